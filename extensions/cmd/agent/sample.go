package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sampler samples the command and the machine. It is part of supervise because a separate process would show up in the figures.
type sampler struct {
	file     string
	asBroker bool
	aheadNs  int64
	// before is the final use of a broker that ran here before this command, last the use of this one at the last sample.
	before, last usageSample
}

// start samples as -sample asks for, now and every second. The function that it returns takes a last sample and stops.
func (s *sampler) start() func() {
	file, err := openSamples(s.file)
	if file == nil || err != nil {
		return func() {} // not asked for, or a full disk: missing samples count as unknown, and the command reports the rest
	}
	if s.asBroker {
		s.before = usedBefore(s.file)
	}
	sample := func() { _ = json.NewEncoder(file).Encode(s.read(time.Now())) }
	stop, stopped := make(chan struct{}), make(chan struct{})
	sample() // here, not in the goroutine, which may wait for a core until the command has begun
	go func() {
		defer close(stopped)
		for tick := time.Tick(time.Second); ; {
			select {
			case <-tick:
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

// sampleOthers appends a sample for each line of in, which names processes that others have started: {"generator":[12],"broker":[34,35]}.
func sampleOthers(path string, in io.Reader) error {
	file, err := openSamples(path)
	if file == nil || err != nil {
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

// openSamples is nil without /proc: then nothing is written.
func openSamples(path string) (*os.File, error) {
	if _, err := os.Stat("/proc/stat"); err != nil {
		return nil, nil
	}
	return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
}

// lastSeen is the use of processes, each with its descendants, at their last sample, by pid.
type lastSeen map[int]usageSample

// usage adds up processes. One that has ended still counts with its last use, but without memory, until all have ended: a sum must not fall
// because one of them is gone. nil if there are none.
func (seen lastSeen) usage(pids []int) *usageSample {
	if len(pids) == 0 {
		return nil
	}
	var sum usageSample
	alive := false
	for _, pid := range pids {
		now := usage(family(pid))
		alive = alive || now.CPUNs != nil
		last := seen[pid]
		last.goOn(now)
		seen[pid] = last
		sum.plus(last)
	}
	if !alive {
		return &usageSample{}
	}
	return &sum
}

// sampleLine is a line of resources.jsonl and resources-<client>.jsonl: counters since the process or machine started; null if unreadable.
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
	if !s.asBroker {
		line.Generator = s.withBefore(usage(pids))
		return line
	}
	sum := usage(pids[1:])
	// Processes that have ended are counted in agent's own figures.
	if ticks := cpuTicks(os.Getpid()); ticks != nil {
		add(&sum.CPUNs, tickNs, ticks[2:]...)
	}
	line.Broker = s.withBefore(sum)
	return line
}

// withBefore is the command's use; for a broker, including its use before it was started again.
func (s *sampler) withBefore(now usageSample) *usageSample {
	s.last.goOn(now)
	var sum usageSample
	sum.plus(s.before)
	sum.plus(s.last)
	return &sum
}

// usedBefore is the last whole sample of a broker in a file. It holds no memory now.
func usedBefore(path string) usageSample {
	text, _ := os.ReadFile(path)
	for _, line := range slices.Backward(bytes.Split(text, []byte{'\n'})) {
		var read sampleLine
		if json.Unmarshal(line, &read) == nil && read.Broker != nil {
			read.Broker.RSSBytes = new(int64)
			return *read.Broker
		}
	}
	return usageSample{}
}

func (u *usageSample) fields() [5]**int64 {
	return [...]**int64{&u.CPUNs, &u.WaitNs, &u.RSSBytes, &u.ReadBytes, &u.WriteBytes}
}

func (u *usageSample) plus(more usageSample) {
	for i, n := range more.fields() {
		if *n != nil {
			addTo(u.fields()[i], **n)
		}
	}
}

// goOn updates the use of processes. If a figure of ended processes can no longer be read it stays as it was, but they hold no memory. A
// counter does not fall: a child's use may be unreadable in both processes while it moves to its parent.
func (u *usageSample) goOn(now usageSample) {
	if u.RSSBytes != nil {
		u.RSSBytes = new(int64)
	}
	for i, n := range now.fields() {
		if last := u.fields()[i]; *n != nil && (*last == nil || **n > **last) {
			*last = *n
		}
	}
}

func machineLine(unixNs int64) sampleLine {
	return sampleLine{UnixMs: float64(unixNs/1000) / 1000, Machine: machine(), Network: readNetwork()}
}

// family is a process and its descendants, as far as main threads have started them: it skips the hundreds of other threads of a JVM.
func family(pid int) []int {
	all := []int{pid}
	for _, child := range children(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid)) {
		all = append(all, family(child)...)
	}
	return all
}

func children(pattern string) (pids []int) {
	files, _ := filepath.Glob(pattern)
	for _, file := range files {
		for _, text := range strings.Fields(read(file)) {
			if pid, err := strconv.Atoi(text); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func usage(pids []int) usageSample {
	var sum usageSample
	for _, pid := range pids {
		folder := "/proc/" + strconv.Itoa(pid)
		add(&sum.CPUNs, tickNs, cpuTicks(pid)...)
		// A thread's second number is how long it waited for a core; the process's own file covers only its main thread.
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
		add(&sum.ReadBytes, 1, after("read_bytes:", io)...)
		add(&sum.WriteBytes, 1, after("write_bytes:", io)...)
	}
	return sum
}

// cpuTicks is the CPU time of a process and of its children that have ended; nil if it cannot be read.
func cpuTicks(pid int) []string {
	stat := read("/proc", strconv.Itoa(pid), "stat")
	// The name is in parentheses and may contain blanks. proc(5): utime, stime, cutime and cstime are fields 14 to 17; the name is field 2.
	if fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:]); len(fields) > 14 {
		return fields[11:15]
	}
	return nil
}

// proc(5): user nice system idle iowait irq softirq steal. The total is cores x time: where work wakes with the tick that samples user and
// system time, the columns add up to too much (on 2 cores to 2.6 s a second), which would show as others' work.
func machine() machineSample {
	m := machineSample{Throttled: throttledPeriods()}
	text := read("/proc/stat")
	cores := strings.Count(text, "\ncpu")
	if up := strings.Fields(read("/proc/uptime")); len(up) > 0 && cores > 0 {
		if seconds, err := strconv.ParseFloat(up[0], 64); err == nil {
			ns := int64(math.Round(seconds * 1e9 * float64(cores)))
			m.CPUNs = &ns
		}
	}
	if ticks := after("cpu ", text); len(ticks) >= 8 {
		add(&m.IdleNs, tickNs, ticks[3], ticks[4])
		add(&m.StealNs, tickNs, ticks[7])
	}
	return m
}

// throttledPeriods is how often agent's control group has used up its CPU quota. A container's own group is mounted at the root.
func throttledPeriods() (periods *int64) {
	for line := range strings.Lines(read("/proc/self/cgroup")) {
		hierarchy := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers (none in version 2), path
		if len(hierarchy) < 3 {
			continue
		}
		folder := "/sys/fs/cgroup"
		if controllers := strings.Split(hierarchy[1], ","); slices.Contains(controllers, "cpu") {
			folder += "/cpu"
		} else if hierarchy[1] != "" {
			continue
		}
		for _, group := range []string{hierarchy[2], ""} {
			if periods == nil {
				add(&periods, 1, after("nr_throttled ", read(folder, group, "cpu.stat"))...)
			}
		}
	}
	return periods
}

// readNetwork adds up the network devices' traffic. Bridges and tunnels carry it again, so they count only where there is no device, as in a container.
func readNetwork() *network {
	text := read("/proc/net/dev")
	if text == "" {
		return nil
	}
	sums := map[bool]*network{true: {}, false: {}} // of devices, of others
	found := false
	for line := range strings.Lines(text) {
		name, numbers, _ := strings.Cut(strings.TrimSpace(line), ":")
		columns := strings.Fields(numbers)
		if name == "lo" || len(columns) < 9 {
			continue
		}
		rx, _ := strconv.ParseInt(columns[0], 10, 64)
		tx, _ := strconv.ParseInt(columns[8], 10, 64)
		_, err := os.Stat(filepath.Join("/sys/class/net", name, "device"))
		found = found || err == nil
		sums[err == nil].RxBytes += rx
		sums[err == nil].TxBytes += tx
	}
	return sums[found]
}

// add adds numbers in some unit to a sum. A sum without any numbers stays unknown.
func add(sum **int64, unit int64, numbers ...string) {
	for _, number := range numbers {
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			addTo(sum, n*unit)
		}
	}
}

func addTo(sum **int64, n int64) {
	if *sum == nil {
		*sum = new(int64)
	}
	**sum += n
}

// after are the words after the beginning of the line that begins with it; nil if there is no such line.
func after(beginning, text string) []string {
	for line := range strings.Lines(text) {
		if rest, found := strings.CutPrefix(line, beginning); found {
			return strings.Fields(rest)
		}
	}
	return nil
}

func read(path ...string) string {
	text, _ := os.ReadFile(filepath.Join(path...))
	return string(text)
}
