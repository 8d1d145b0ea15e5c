// Command parts lists what Go programs are made of, for a package that holds them:
//
//	parts -out <folder> <folder of the modules> <program>...
//
// It writes sbom.cdx.json (CycloneDX 1.6) and THIRD-PARTY.txt, the licences of all modules that are linked in, and prints the modules as JSON.
// A module whose licence is not recognized is an error: then we may not pass it on.
package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// Module as go.sum has it.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Sum     string `json:"sum"`
	// Licence is a SPDX identifier; of several they are joined by AND.
	Licence string `json:"licence"`
}

const own = "github.com/mqbench/mqbench/"

func main() {
	out := flag.String("out", ".", "folder for sbom.cdx.json and THIRD-PARTY.txt")
	flag.Parse()
	if flag.NArg() < 2 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*out, flag.Arg(0), flag.Args()[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "parts:", err)
		os.Exit(1)
	}
}

func run(out, modules string, programs []string) error {
	linked, version, err := linkedIn(programs)
	if err != nil {
		return err
	}
	var unknown []error
	// Many have the same one.
	byText := map[string][]string{}
	for i := range linked {
		m := &linked[i]
		text, err := licenceOf(m, modules)
		if err != nil {
			unknown = append(unknown, err)
			continue
		}
		text = strings.TrimSpace(text)
		byText[text] = append(byText[text], fmt.Sprintf("%s %s (%s)", m.Path, m.Version, m.Licence))
	}
	if len(unknown) > 0 {
		return errors.Join(unknown...)
	}
	var texts []string
	for text, who := range byText {
		texts = append(texts, strings.Join(who, "\n")+"\n\n"+text+"\n")
	}
	slices.Sort(texts)
	all := strings.Join(texts, "\n"+strings.Repeat("-", 80)+"\n\n")
	if err := os.WriteFile(filepath.Join(out, "THIRD-PARTY.txt"), []byte(all), 0o644); err != nil {
		return err
	}
	bill, err := json.MarshalIndent(billOf(linked, version), "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "sbom.cdx.json"), append(bill, '\n'), 0o644); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(linked)
}

// linkedIn are the modules of all programs, each once, and Go itself, by their own words.
func linkedIn(programs []string) (linked []Module, version string, err error) {
	found := map[string]Module{}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return nil, "", err
		}
		// nats-server is the main module of its program.
		for _, m := range append(info.Deps, &info.Main) {
			if m.Replace != nil {
				m = m.Replace
			}
			// Ours are in a folder: they have no version of their own.
			if strings.HasPrefix(m.Path, own) || strings.HasPrefix(m.Path, "./") {
				continue
			}
			found[m.Path+"@"+m.Version] = Module{Path: m.Path, Version: m.Version, Sum: m.Sum}
		}
		version = info.GoVersion
		found["std"] = Module{Path: "std", Version: version, Licence: "BSD-3-Clause"}
	}
	for _, m := range found {
		linked = append(linked, m)
	}
	slices.SortFunc(linked, func(a, b Module) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Version, b.Version))
	})
	return linked, version, nil
}

// withoutFile are modules that have no file with a licence, and what is known of them.
var withoutFile = map[string]struct{ Licence, Text string }{
	"buf.build/gen/go/prometheus/prometheus/protocolbuffers/go": {Licence: "Apache-2.0", Text: "Copyright 2016 Prometheus Team, as the heads of its files say (http://www.apache.org/licenses/LICENSE-2.0)."},
	"github.com/grafana/k6-cloud-openapi-client-go":             {Licence: "NOASSERTION", Text: "By Grafana Labs, who link it into k6 (AGPL-3.0-only); it states no licence of its own."},
}

// spdx has newer names of what licensecheck finds.
var spdx = map[string]string{"AGPL-3.0": "AGPL-3.0-only"}

var licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|notice)([.-].*)?$`)

// licenceOf fills in the licence of a module, and returns its texts.
func licenceOf(m *Module, modules string) (string, error) {
	folder, err := folderOf(m, modules)
	if err != nil {
		return "", err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	var texts, ids []string
	for _, entry := range entries {
		if entry.IsDir() || !licenceFile.MatchString(entry.Name()) || strings.HasSuffix(entry.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return "", err
		}
		texts = append(texts, string(text))
		for _, match := range licensecheck.Scan(text).Match {
			id := cmp.Or(spdx[match.ID], match.ID)
			if !match.IsURL && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	if known, ok := withoutFile[m.Path]; ok && len(ids) == 0 {
		m.Licence = known.Licence
		return known.Text, nil
	}
	if len(ids) == 0 {
		return "", fmt.Errorf("%s %s: its licence is not recognized (%s)", m.Path, m.Version, folder)
	}
	slices.Sort(ids)
	m.Licence = strings.Join(ids, " AND ")
	return strings.Join(texts, "\n\n"), nil
}

func folderOf(m *Module, modules string) (string, error) {
	args := []string{"mod", "download", "-json", m.Path + "@" + m.Version}
	if m.Path == "std" {
		args = []string{"env", "-json", "GOROOT"}
	}
	command := exec.Command("go", args...)
	command.Dir = modules
	said, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, said)
	}
	var answer struct{ Dir, GOROOT, Sum string }
	if err := json.Unmarshal(said, &answer); err != nil {
		return "", err
	}
	if m.Sum != "" && answer.Sum != m.Sum {
		return "", fmt.Errorf("%s %s: the proxy has %s, and %s is linked in", m.Path, m.Version, answer.Sum, m.Sum)
	}
	return cmp.Or(answer.Dir, answer.GOROOT), nil
}

type bill struct {
	BomFormat   string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type     string    `json:"type"`
	Name     string    `json:"name"`
	Version  string    `json:"version,omitempty"`
	Purl     string    `json:"purl,omitempty"`
	Licenses []licence `json:"licenses,omitempty"`
}

type licence struct {
	Expression string `json:"expression"`
}

// billOf is a bill of materials as CycloneDX has it (https://cyclonedx.org/docs/1.6/json).
func billOf(linked []Module, version string) bill {
	b := bill{BomFormat: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata: metadata{component{Type: "application", Name: "mqbench load generator, built with " + version,
			Licenses: []licence{{"AGPL-3.0-only"}}}}}
	for _, m := range linked {
		b.Components = append(b.Components, component{Type: "library", Name: m.Path, Version: m.Version,
			Purl: "pkg:golang/" + m.Path + "@" + m.Version, Licenses: []licence{{m.Licence}}})
	}
	return b
}
