package redis

import (
	"bufio"
	"bytes"
	"fmt"
	"strconv"
)

// encode writes a command in the Redis protocol. Errors stay in w, for Flush.
func (s *session) encode(w *bufio.Writer, e entry) {
	switch {
	case e.m == nil && s.mode == modeStreams:
		_, _ = w.WriteString("*" + strconv.Itoa(3+len(e.ids)) + "\r\n$4\r\nXACK\r\n")
		bulkString(w, e.key)
		bulkString(w, e.group)
		for _, id := range e.ids {
			bulkString(w, id)
		}
	case e.m == nil:
		_, _ = w.WriteString("*4\r\n$4\r\nLREM\r\n")
		bulkString(w, e.key)
		bulkString(w, "-1")
		bulkString(w, e.value)
	case s.mode == modeStreams && e.m.Key != nil:
		_, _ = w.Write(s.topics[e.m.Topic].keyed)
		bulkString(w, "k")
		bulk(w, e.m.Key)
		bulkString(w, "p")
		bulk(w, e.m.Payload)
	case s.mode == modeStreams:
		_, _ = w.Write(s.topics[e.m.Topic].plain)
		bulkString(w, "p")
		bulk(w, e.m.Payload)
	default:
		_, _ = w.Write(s.topics[e.m.Topic].plain)
		bulk(w, e.m.Payload)
	}
}

// arguments of a command, for go-redis.
func (s *session) arguments(e entry) []any {
	switch {
	case e.m == nil && s.mode == modeStreams:
		args := []any{"XACK", e.key, e.group}
		for _, id := range e.ids {
			args = append(args, id)
		}
		return args
	case e.m == nil:
		return []any{"LREM", e.key, -1, e.value}
	case s.mode != modeStreams:
		return []any{s.command, e.m.Name, e.m.Payload}
	}
	args := []any{s.command, e.m.Name}
	if *s.MaxLength > 0 {
		args = append(args, "MAXLEN", "~", *s.MaxLength)
	}
	args = append(args, "*")
	if e.m.Key != nil {
		args = append(args, "k", e.m.Key)
	}
	return append(args, "p", e.m.Payload)
}

// prefix is the beginning of a command that has `more` arguments after these.
func prefix(more int, args ...string) []byte {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	_, _ = fmt.Fprintf(w, "*%d\r\n", len(args)+more)
	for _, arg := range args {
		bulkString(w, arg)
	}
	_ = w.Flush()
	return b.Bytes()
}

// readAnswer reads the answer to one command that answers with an integer, a status, a string or an error.
func readAnswer(r *bufio.Reader) (integer int64, refusal string, err error) {
	head, err := r.ReadSlice('\n')
	if err != nil {
		return 0, "", err
	}
	head = bytes.TrimRight(head, "\r\n")
	if len(head) == 0 {
		return 0, "", fmt.Errorf("an empty answer")
	}
	rest := head[1:]
	switch head[0] {
	case '+':
		return 0, "", nil
	case '-':
		return 0, string(rest), nil
	case ':':
		integer, err = strconv.ParseInt(string(rest), 10, 64)
		return integer, "", err
	case '$':
		length, err := strconv.Atoi(string(rest))
		if err != nil || length < 0 {
			return 0, "", err
		}
		_, err = r.Discard(length + 2)
		return 0, "", err
	}
	return 0, "", fmt.Errorf("an answer that begins with %q", head[0])
}

// --- internal ---

func bulk(w *bufio.Writer, value []byte) {
	length(w, len(value))
	_, _ = w.Write(value)
	_, _ = w.WriteString("\r\n")
}

func bulkString(w *bufio.Writer, value string) {
	length(w, len(value))
	_, _ = w.WriteString(value)
	_, _ = w.WriteString("\r\n")
}

func length(w *bufio.Writer, n int) {
	_ = w.WriteByte('$')
	_, _ = w.Write(strconv.AppendInt(w.AvailableBuffer(), int64(n), 10))
	_, _ = w.WriteString("\r\n")
}
