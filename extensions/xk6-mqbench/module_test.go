package mqbench

import "testing"

func TestEachCallIsALoadOfItsOwnAndTheSameOneInEveryVU(t *testing.T) {
	root := &rootModule{}
	vu := func() *instance { return &instance{root: root, calls: map[string]int{}} }
	call := func(of *instance, words string) (*load, error) {
		return root.find(of.name(words), func() (*load, error) { return &load{}, nil })
	}
	loads := func(of *instance) (found []*load) {
		for _, words := range []string{"open a", "open a", "open b", "load a"} {
			one, err := call(of, words)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, one)
		}
		return found
	}
	first := loads(vu())
	root.begun = true
	for at, one := range loads(vu()) {
		if one != first[at] {
			t.Errorf("call %d of another VU is another load", at)
		}
		for _, other := range first[:at] {
			if one == other {
				t.Errorf("call %d is the load of an earlier one", at)
			}
		}
	}
	if _, err := call(vu(), "open c"); err == nil {
		t.Error("a load that only one VU names is opened")
	}
}
