# Keeps a fact until all of them become facts.json: its name, and its value as JSON.
fact() {
	printf '%s' "$2" >"$base/facts.d/$1"
}

# What people should know of this machine, a sentence: not as asked for, but no mistake.
remark() {
	echo "$1"
	text "$1" >>"$base/remarks"
	echo >>"$base/remarks"
}

# A JSON string, whatever the words hold; null of nothing.
text() {
	local words
	words=$(printf '%s' "$1" | { iconv -c -f UTF-8 -t UTF-8 || true; } | tr '\000-\037\177' ' ' | sed 's/^ *//; s/ *$//; s/[\\"]/\\&/g')
	if [ -n "$words" ]; then printf '"%s"' "$words"; else printf null; fi
}

# A whole number as JSON; null of anything else.
number() {
	case $1 in
	'' | *[!0-9]* | 0?*) printf null ;;
	*) printf %s "$1" ;;
	esac
}

facts() {
	local file comma=
	fact kernel "$(text "$(uname -r)")"
	fact remarks "[$(paste -sd , "$base/remarks")]"
	{
		printf '{'
		for file in "$base"/facts.d/*; do
			printf '%s\n\t"%s": %s' "$comma" "${file##*/}" "$(cat "$file")"
			comma=,
		done
		printf '\n}\n'
	} >"$base/facts.new"
	mv "$base/facts.new" "$base/facts.json"
}
