#!/bin/bash
# up.sh: starts a Kubernetes 1.34.1 of one node in the network namespace in which it runs; K8S_WORK is a folder with bin/k8s (main.go) and img/*.tar.
# Leaves $K8S_WORK/state with admin.kubeconfig and pids. Needs root, containerd, runc, the CNI plugins and conntrack. down.sh undoes it.
set -eu
W=${K8S_WORK:?a folder for programs, images and state}; S=$W/state; B=$W/bin
GW=10.251.0.1; BR=mqk8s0; PORT=16443
for c in etcd kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl; do [ -e $B/$c ] || { [ -e $B/k8s ] && ln -s k8s $B/$c; }; done || true
export PATH=$B:$PATH:/usr/sbin:/sbin
t0=$(date +%s%N); el(){ echo "[$(( ($(date +%s%N)-t0)/1000000 )) ms] $*"; }
[ -e $S/pids ] && { echo "already running? run stop.sh"; exit 1; }
rm -rf $S/etcd $S/kubelet; mkdir -p $S/pki $S/log $S/etcd $S/kubelet $S/containerd $S/run $S/cni $S/podlogs $S/manifests; chmod 700 $S; : > $S/pids
spawn(){ n=$1; shift; nice -n 10 setsid "$@" >$S/log/$n.log 2>&1 </dev/null & echo "$n $!" >> $S/pids; }
# --- pki
cd $S/pki
if [ ! -e apiserver.crt ]; then
 openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days 3650 -subj /CN=mqtest-ca 2>/dev/null
 openssl genrsa -out sa.key 2048 2>/dev/null
 cert(){ # name subj san
  openssl req -newkey rsa:2048 -nodes -keyout $1.key -out $1.csr -subj "$2" 2>/dev/null
  openssl x509 -req -in $1.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -out $1.crt -extfile <(printf 'extendedKeyUsage=serverAuth,clientAuth\n%s' "$3") 2>/dev/null; }
 cert apiserver /CN=kube-apiserver "subjectAltName=IP:127.0.0.1,IP:$GW,IP:10.252.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
 cert kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client ""
 tok(){ openssl rand -hex 16; }
 A=$(tok) C=$(tok) D=$(tok) N=$(tok)
 cat > tokens.csv <<T
$A,admin,u1,"system:masters"
$C,system:kube-controller-manager,u2,
$D,system:kube-scheduler,u3,
$N,system:node:mq,u4,"system:nodes,system:masters"
T
 kc(){ cat > $S/$1.kubeconfig <<T
apiVersion: v1
kind: Config
clusters: [{name: mq, cluster: {server: "https://127.0.0.1:$PORT", certificate-authority-data: $(base64 -w0 ca.crt)}}]
users: [{name: $1, user: {token: $2}}]
contexts: [{name: mq, context: {cluster: mq, user: $1}}]
current-context: mq
T
 chmod 600 $S/$1.kubeconfig; }
 kc admin $A; kc cm $C; kc sched $D; kc node $N
fi
cd $W; el certs
# --- control plane
spawn etcd $B/etcd --name mq --data-dir $S/etcd --listen-client-urls http://127.0.0.1:12379 --advertise-client-urls http://127.0.0.1:12379 --listen-peer-urls http://127.0.0.1:12380 --initial-advertise-peer-urls http://127.0.0.1:12380 --initial-cluster mq=http://127.0.0.1:12380 --unsafe-no-fsync --log-level warn
spawn apiserver $B/kube-apiserver --etcd-servers=http://127.0.0.1:12379 --secure-port=$PORT --bind-address=127.0.0.1 --advertise-address=$GW --endpoint-reconciler-type=none \
 --tls-cert-file=$S/pki/apiserver.crt --tls-private-key-file=$S/pki/apiserver.key --client-ca-file=$S/pki/ca.crt --token-auth-file=$S/pki/tokens.csv --authorization-mode=RBAC --anonymous-auth=false \
 --service-account-key-file=$S/pki/sa.key --service-account-signing-key-file=$S/pki/sa.key --service-account-issuer=https://kubernetes.default.svc \
 --kubelet-client-certificate=$S/pki/kubelet-client.crt --kubelet-client-key=$S/pki/kubelet-client.key --kubelet-preferred-address-types=InternalIP \
 --service-cluster-ip-range=10.252.0.0/24 --allow-privileged=true --profiling=false
export KUBECONFIG=$S/admin.kubeconfig
for i in $(seq 600); do kubectl get --raw /readyz >/dev/null 2>&1 && break; sleep 0.2; done
kubectl get --raw /readyz >/dev/null; el "apiserver ready"
spawn cm $B/kube-controller-manager --kubeconfig=$S/cm.kubeconfig --authentication-kubeconfig=$S/cm.kubeconfig --authorization-kubeconfig=$S/cm.kubeconfig --bind-address=127.0.0.1 --leader-elect=false --use-service-account-credentials=true \
 --service-account-private-key-file=$S/pki/sa.key --root-ca-file=$S/pki/ca.crt --profiling=false
spawn sched $B/kube-scheduler --kubeconfig=$S/sched.kubeconfig --authentication-kubeconfig=$S/sched.kubeconfig --authorization-kubeconfig=$S/sched.kubeconfig --bind-address=127.0.0.1 --leader-elect=false --profiling=false
for i in $(seq 300); do kubectl -n default get serviceaccount default >/dev/null 2>&1 && break; sleep 0.2; done; el "default serviceaccount exists"
# --- node: bridge, CNI, containerd, kubelet
for k in vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops kernel.keys.root_maxkeys kernel.keys.root_maxbytes net.ipv4.ip_forward net.ipv4.conf.all.route_localnet; do v=$(sysctl -n $k 2>/dev/null) && echo "$k=$v"; done > $S/sysctl.before
ip link add $BR type bridge; ip addr add $GW/24 dev $BR; ip link set $BR up
iptables -I FORWARD -i $BR -o $BR -m comment --comment mqk8s -j ACCEPT
cat > $S/cni/10-mq.conflist <<T
{"cniVersion":"0.4.0","name":"mq","plugins":[{"type":"bridge","bridge":"$BR","isGateway":true,"ipMasq":false,"hairpinMode":true,"ipam":{"type":"host-local","dataDir":"$S/cni-ipam","ranges":[[{"subnet":"10.251.0.0/24","gateway":"$GW"}]],"routes":[{"dst":"0.0.0.0/0"}]}},{"type":"portmap","capabilities":{"portMappings":true}}]}
T
cat > $S/containerd.toml <<T
version = 2
root = "$S/containerd"
state = "$S/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs","io.containerd.snapshotter.v1.aufs","io.containerd.snapshotter.v1.zfs","io.containerd.snapshotter.v1.devmapper","io.containerd.internal.v1.tracing","io.containerd.tracing.processor.v1.otlp"]
[grpc]
  address = "$S/run/c.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "$S/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/mqtest/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$S/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
T
spawn containerd containerd --config $S/containerd.toml
for i in $(seq 100); do ctr -a $S/run/c.sock version >/dev/null 2>&1 && break; sleep 0.1; done
for f in $W/img/*.tar; do ctr -a $S/run/c.sock -n k8s.io images import $f >/dev/null; done; el "containerd up, images imported"
echo 'nameserver 127.0.0.1' > $S/resolv.conf
cat > $S/kubelet.yaml <<T
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $GW
healthzPort: 0
readOnlyPort: 0
authentication: {anonymous: {enabled: false}, webhook: {enabled: false}, x509: {clientCAFile: $S/pki/ca.crt}}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
failCgroupV1: false
failSwapOn: false
oomScoreAdj: 0
enforceNodeAllocatable: [pods]
containerRuntimeEndpoint: unix://$S/run/c.sock
resolvConf: $S/resolv.conf
podLogsDir: $S/podlogs
makeIPTablesUtilChains: false
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard: {memory.available: "50Mi", nodefs.available: "1%", imagefs.available: "1%", nodefs.inodesFree: "1%"}
serverTLSBootstrap: false
nodeStatusUpdateFrequency: 10s
syncFrequency: 10s
T
spawn kubelet $B/kubelet --config=$S/kubelet.yaml --kubeconfig=$S/node.kubeconfig --root-dir=$S/kubelet --cert-dir=$S/pki/kubelet --hostname-override=mq --node-ip=$GW -v=2
spawn kube-proxy $B/kube-proxy --kubeconfig=$S/admin.kubeconfig --hostname-override=mq --proxy-mode=iptables --iptables-localhost-nodeports=false --cluster-cidr=10.251.0.0/24 --bind-address=$GW --metrics-bind-address=127.0.0.1:10249 --conntrack-max-per-core=0 --conntrack-min=0 --conntrack-tcp-timeout-established=0 --conntrack-tcp-timeout-close-wait=0
for i in $(seq 300); do [ "$(kubectl get node mq -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}' 2>/dev/null)" = True ] && break; sleep 0.2; done
el "node wait done"; kubectl get nodes -o wide
