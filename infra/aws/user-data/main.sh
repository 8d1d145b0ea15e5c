# /var/lib/mqbench is what the set-up says of itself: state (one line), set-up.log, facts.json; and store, the folder on the disk that is
# measured.
mkdir -p "$base/facts.d"
chmod 755 "$base"
: >"$base/remarks"
run_steps ttl user quiet disk packages engine store tuning limits clock facts
