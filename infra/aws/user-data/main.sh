mkdir -p "$base"
chmod 755 "$base"
echo null >"$base/disk"
: >"$base/remarks"
run_steps ttl quiet packages engine store tuning limits clock facts
