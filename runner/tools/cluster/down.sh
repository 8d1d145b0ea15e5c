#!/bin/bash
# down.sh: stops only what up.sh started (pids file, and shims whose -address is our containerd socket), undoes its host changes.
W=${K8S_WORK:?}; S=$W/state; export PATH=$W/bin:$PATH:/usr/sbin:/sbin KUBECONFIG=$S/admin.kubeconfig
pid(){ awk -v n=$1 '$1==n{print $2}' $S/pids; }
fin(){ p=$(pid $1); [ -n "$p" ] || return; kill $p 2>/dev/null; for i in $(seq 50); do kill -0 $p 2>/dev/null || return; sleep 0.1; done; kill -9 $p 2>/dev/null; }
if [ -n "$(pid kubelet)" ]; then
 kubectl delete pods -A --all --grace-period=1 --timeout=20s >/dev/null 2>&1
 fin kubelet; fin kube-proxy; $W/bin/kube-proxy --cleanup >$S/log/cleanup.log 2>&1
 C="ctr -a $S/run/c.sock -n k8s.io"
 for t in $($C tasks ls -q); do $C tasks kill -s SIGKILL $t; done; sleep 0.5
 for t in $($C tasks ls -q); do $C tasks delete -f $t; done >/dev/null 2>&1
 for t in $($C containers ls -q); do $C containers rm $t; done
 for p in $(pgrep -f "containerd-shim-runc-v2 .*-address $S/run/c.sock" ); do kill $p; done
 fin containerd
fi
fin sched; fin cm; fin apiserver; fin etcd
for m in $(awk '{print $2}' /proc/mounts | grep "^$S/" | sort -r); do umount -l $m; done
[ -e $S/sysctl.before ] && while IFS== read k v; do [ "$(sysctl -n $k)" = "$v" ] || sysctl -w $k=$v; done < $S/sysctl.before
iptables -D FORWARD -i mqk8s0 -o mqk8s0 -m comment --comment mqk8s -j ACCEPT 2>/dev/null
for t in iptables ip6tables; do $t -D INPUT -j KUBE-FIREWALL; $t -D OUTPUT -j KUBE-FIREWALL; $t -F KUBE-FIREWALL; $t -X KUBE-FIREWALL; for c in KUBE-KUBELET-CANARY KUBE-PROXY-CANARY; do for b in filter nat mangle; do $t -t $b -X $c; done; done; done 2>/dev/null
ip link del mqk8s0 2>/dev/null
for l in /var/log/containers/*.log; do case "$(readlink $l)" in $S/*) rm -f $l;; esac; done
rm -rf /var/lib/cni/results; rmdir /var/lib/cni /var/log/containers 2>/dev/null
rm -rf /var/lib/kubelet/device-plugins; rmdir /var/lib/kubelet 2>/dev/null
for d in /sys/fs/cgroup/*/kubepods; do [ -d $d ] && find $d -depth -type d -exec rmdir {} \; 2>/dev/null; done
rm -f $S/pids $S/sysctl.before; echo stopped
