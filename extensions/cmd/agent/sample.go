package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sampler says what to sample of the command and the machine. It is part of supervise because a process of its own would show up in
// the figures.
type sampler struct {
	file     string
	asBroker bool
	aheadNs  int64
	// before is what a broker that ran here before this command had used in the end, last what this one had used at the last sample.
	before, last usageSample
}

func (s *sampler) flags(flags *flag.FlagSet) {
	flags.StringVar(&s.file, "sample", "", "append to this file, once a second, what the command and the machine have used: lines as in runner/model/resource-file.ts")
	flags.BoolVar(&s.asBroker, "broker", false, "the samples are of a broker: of the command alone, without agent")
	flags.Int64Var(&s.aheadNs, "ahead", 0, "how far this machine's clock is ahead of that which samples are to be told in, ns")
}

// start samples as -sample asks for, now and every second. The function that it returns takes a last sample and stops. Without /proc
// nothing is written.
func (s *sampler) start() func() {
	if s.file == "" {
		return func() {}
	}
	if _, err := os.Stat("/proc/stat"); err != nil {
		return func() {}
	}
	file, err := os.OpenFile(s.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return func() {} // a full disk: what is missing counts as unknown, and the command reports the rest
	}
	if s.asBroker {
		s.before = usedBefore(s.file)
	}
	sample := func() {
		if line, err := json.Marshal(s.read(time.Now())); err == nil {
			_, _ = file.Write(append(line, '\n'))
		}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	sample() // here, not in the goroutine, which may wait for a core until the command has begun
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				sample()
			case <-stop:
				sample()
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		_ = file.Close()
	}
}

// sampleOthers appends a sample to the file for each line of in, which names processes of this machine: {"generator":[12],"broker":[34,35]}.
// They were started by others, so this agent and its memory are none of them. Without /proc nothing is written.
func sampleOthers(path string, in io.Reader) error {
	if _, err := os.Stat("/proc/stat"); err != nil {
		return nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer file.Close()
	seen := lastSeen{}
	for lines := json.NewDecoder(in); ; {
		var asked struct{ Generator, Broker []int }
		if err := lines.Decode(&asked); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		line := machineLine(time.Now().UnixNano())
		line.Generator, line.Broker = seen.usage(asked.Generator), seen.usage(asked.Broker)
		if err := json.NewEncoder(file).Encode(line); err != nil {
			return err
		}
	}
}

// --- internal ---

// lastSeen is what processes, each with its descendants, had used when they were last asked, by pid.
type lastSeen map[int]usageSample

// usage adds up processes. One that has ended still counts with its last use, but without memory, until all have ended: a sum must not
// fall because one of them is gone. nil: there are none.
func (seen lastSeen) usage(pids []int) *usageSample {
	if len(pids) == 0 {
		return nil
	}
	var sum, ended usageSample
	for _, pid := range pids {
		if now := usage(family(pid)); now.CPUNs != nil {
			seen[pid] = now
			sum.plus(now)
		} else {
			last := seen[pid]
			last.RSSBytes = nil
			ended.plus(last)
		}
	}
	if sum.CPUNs != nil {
		sum.plus(ended)
	}
	return &sum
}

func (u *usageSample) plus(more usageSample) {
	for sum, n := range map[**int64]*int64{
		&u.CPUNs: more.CPUNs, &u.WaitNs: more.WaitNs, &u.RSSBytes: more.RSSBytes, &u.ReadBytes: more.ReadBytes, &u.WriteBytes: more.WriteBytes,
	} {
		if n != nil {
			addTo(sum, *n)
		}
	}
}

// sampleLine is a line of resources.jsonl and resources-<client>.jsonl: counters since the start of the process or the machine. null: it could not be read.
type sampleLine struct {
	UnixMs    float64       `json:"unixMs"`
	Generator *usageSample  `json:"generator"`
	Broker    *usageSample  `json:"broker"`
	Machine   machineSample `json:"machine"`
	Network   *network      `json:"network"`
}

type usageSample struct {
	CPUNs      *int64 `json:"cpuNs"`
	WaitNs     *int64 `json:"waitNs"`
	RSSBytes   *int64 `json:"rssBytes"`
	ReadBytes  *int64 `json:"readBytes"`
	WriteBytes *int64 `json:"writeBytes"`
}

type machineSample struct {
	CPUNs     *int64 `json:"cpuNs"`
	IdleNs    *int64 `json:"idleNs"`
	StealNs   *int64 `json:"stealNs"`
	Throttled *int64 `json:"throttled"`
}

type network struct {
	RxBytes int64 `json:"rxBytes"`
	TxBytes int64 `json:"txBytes"`
}

// tickNs is the unit of /proc's CPU times: USER_HZ, 100 a second on every Linux.
const tickNs = 10_000_000

func (s *sampler) read(now time.Time) sampleLine {
	line := machineLine(now.UnixNano() - s.aheadNs)
	// A generator with its agent, a broker without.
	pids := family(os.Getpid())
	if s.asBroker {
		sum := usage(pids[1:])
		// Processes that have ended are counted in agent's own figures.
		add(&sum.CPUNs, tickNs, ended(os.Getpid())...)
		sum = s.goOn(sum)
		line.Broker = &sum
	} else {
		sum := usage(pids)
		line.Generator = &sum
	}
	return line
}

// goOn is what a broker has used, with what it had used before it was started again. What can no longer be read of processes that have ended
// stays as it was; while it is down it holds no memory.
func (s *sampler) goOn(now usageSample) usageSample {
	for last, is := range map[**int64]*int64{
		&s.last.CPUNs: now.CPUNs, &s.last.WaitNs: now.WaitNs, &s.last.ReadBytes: now.ReadBytes, &s.last.WriteBytes: now.WriteBytes,
	} {
		if is != nil {
			*last = is
		}
	}
	if now.RSSBytes != nil || s.before.CPUNs != nil || s.last.RSSBytes != nil {
		s.last.RSSBytes = new(int64)
		if now.RSSBytes != nil {
			*s.last.RSSBytes = *now.RSSBytes
		}
	}
	var all usageSample
	all.plus(s.last)
	all.plus(s.before)
	return all
}

// usedBefore is the last whole sample of a broker in a file, without its memory.
func usedBefore(path string) usageSample {
	text, _ := os.ReadFile(path)
	for _, line := range slices.Backward(bytes.Split(text, []byte{'\n'})) {
		var read sampleLine
		if json.Unmarshal(line, &read) == nil && read.Broker != nil {
			read.Broker.RSSBytes = nil
			return *read.Broker
		}
	}
	return usageSample{}
}

func machineLine(unixNs int64) sampleLine {
	return sampleLine{UnixMs: float64(unixNs/1000) / 1000, Machine: machine(), Network: readNetwork()}
}

// family is a process and its descendants, as far as main threads have started them: the hundreds of other threads of a JVM are not asked.
func family(pid int) []int {
	all := []int{pid}
	for _, child := range strings.Fields(read("/proc", strconv.Itoa(pid), "task", strconv.Itoa(pid), "children")) {
		if n, err := strconv.Atoi(child); err == nil {
			all = append(all, family(n)...)
		}
	}
	return all
}

// usage adds up what could be read.
func usage(pids []int) usageSample {
	var sum usageSample
	for _, pid := range pids {
		folder := "/proc/" + strconv.Itoa(pid)
		add(&sum.CPUNs, tickNs, cpuTicks(pid)...)
		// A thread's second number is how long it waited for a core; the process's own file is of its main thread alone.
		threads, _ := filepath.Glob(folder + "/task/*/schedstat")
		for _, thread := range threads {
			if times := strings.Fields(read(thread)); len(times) > 1 {
				add(&sum.WaitNs, 1, times[1])
			}
		}
		if pages := strings.Fields(read(folder, "statm")); len(pages) > 1 {
			add(&sum.RSSBytes, int64(os.Getpagesize()), pages[1])
		}
		io := read(folder, "io")
		add(&sum.ReadBytes, 1, match(readBytes, io)...)
		add(&sum.WriteBytes, 1, match(writeBytes, io)...)
	}
	return sum
}

// cpuTicks is the CPU time of a process and of its children that have ended; empty if it cannot be read.
func cpuTicks(pid int) []string {
	stat := read("/proc", strconv.Itoa(pid), "stat")
	// The name is in parentheses and may contain blanks. proc(5): utime, stime, cutime and cstime are fields 14 to 17; the name is field 2.
	if fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:]); len(fields) > 14 {
		return fields[11:15]
	}
	return nil
}

// ended is the CPU time of agent's children that have ended.
func ended(pid int) []string {
	if ticks := cpuTicks(pid); len(ticks) == 4 {
		return ticks[2:]
	}
	return nil
}

var (
	readBytes  = regexp.MustCompile(`(?m)^read_bytes: (\d+)$`)
	writeBytes = regexp.MustCompile(`(?m)^write_bytes: (\d+)$`)
	core       = regexp.MustCompile(`(?m)^cpu\d`)
	cpuTimes   = regexp.MustCompile(`(?m)^cpu +(.*)$`)
	groupV2    = regexp.MustCompile(`(?m)^0::(.*)$`)
	groupV1    = regexp.MustCompile(`(?m)^\d+:[^:]*\bcpu\b[^:]*:(.*)$`)
	throttled  = regexp.MustCompile(`(?m)^nr_throttled (\d+)$`)
	device     = regexp.MustCompile(`(?m)^\s*([^:\s]+):\s*(.*)$`)
)

// proc(5): user nice system idle iowait irq softirq steal. The total is cores x time: where work wakes with the tick that samples user and
// system time, the columns add up to too much (on 2 cores to 2.6 s a second), which would show as others' work.
func machine() machineSample {
	var m machineSample
	text := read("/proc/stat")
	cores := len(core.FindAllString(text, -1))
	if up := strings.Fields(read("/proc/uptime")); len(up) > 0 && cores > 0 {
		if seconds, err := strconv.ParseFloat(up[0], 64); err == nil {
			ns := int64(math.Round(seconds * 1e9 * float64(cores)))
			m.CPUNs = &ns
		}
	}
	if line := match(cpuTimes, text); len(line) == 1 {
		if ticks := strings.Fields(line[0]); len(ticks) >= 8 {
			add(&m.IdleNs, tickNs, ticks[3], ticks[4])
			add(&m.StealNs, tickNs, ticks[7])
		}
	}
	m.Throttled = throttledPeriods()
	return m
}

// throttledPeriods is how often the control group of agent has used up its CPU quota. In a container the group's path is that of the
// machine, while the container's own group is mounted at the root.
func throttledPeriods() *int64 {
	var periods *int64
	groups := read("/proc/self/cgroup")
	for _, hierarchy := range []struct {
		folder string
		path   *regexp.Regexp
	}{{"/sys/fs/cgroup", groupV2}, {"/sys/fs/cgroup/cpu", groupV1}} {
		for _, group := range append(match(hierarchy.path, groups), "") {
			if periods == nil {
				add(&periods, 1, match(throttled, read(hierarchy.folder, group, "cpu.stat"))...)
			}
		}
	}
	return periods
}

// readNetwork adds up the traffic of the machine's network devices. Bridges and tunnels carry the same bytes a second time, so they
// count only where there is no device, as in a container.
func readNetwork() *network {
	text := read("/proc/net/dev")
	if text == "" {
		return nil
	}
	var all, real network
	found := false
	for _, row := range device.FindAllStringSubmatch(text, -1) {
		columns := strings.Fields(row[2])
		if row[1] == "lo" || len(columns) < 9 {
			continue
		}
		rx, _ := strconv.ParseInt(columns[0], 10, 64)
		tx, _ := strconv.ParseInt(columns[8], 10, 64)
		all.RxBytes, all.TxBytes = all.RxBytes+rx, all.TxBytes+tx
		if _, err := os.Stat(filepath.Join("/sys/class/net", row[1], "device")); err == nil {
			found = true
			real.RxBytes, real.TxBytes = real.RxBytes+rx, real.TxBytes+tx
		}
	}
	if found {
		return &real
	}
	return &all
}

// add adds numbers in some unit to a sum. A sum without any numbers stays unknown.
func add(sum **int64, unit int64, numbers ...string) {
	for _, number := range numbers {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			continue
		}
		addTo(sum, n*unit)
	}
}

func addTo(sum **int64, n int64) {
	if *sum == nil {
		*sum = new(int64)
	}
	**sum += n
}

// match is the text of the pattern's group, if the pattern is found.
func match(pattern *regexp.Regexp, text string) []string {
	if found := pattern.FindStringSubmatch(text); found != nil {
		return found[1:]
	}
	return nil
}

func read(path ...string) string {
	text, _ := os.ReadFile(filepath.Join(path...))
	return string(text)
}
