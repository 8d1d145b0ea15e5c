package broker

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// Drivers from outside depend on these types: the file shows what a change does to them. One after which a driver does not compile, or does
// something else, raises Contract.
func TestTheContractIsTheOneOfItsNumber(t *testing.T) {
	text := fmt.Sprintf("contract %d\n", Contract)
	for _, one := range []reflect.Type{
		reflect.TypeFor[Session](), reflect.TypeFor[Producer](), reflect.TypeFor[Driver](), reflect.TypeFor[Handler](), reflect.TypeFor[Done](),
		reflect.TypeFor[Simple](), reflect.TypeFor[Sender](), reflect.TypeFor[*Socket](), reflect.TypeFor[Options](), reflect.TypeFor[Part](),
		reflect.TypeFor[Layout](), reflect.TypeFor[Topic](), reflect.TypeFor[Subscription](), reflect.TypeFor[Message](),
		reflect.TypeFor[Delivery](), reflect.TypeFor[Description](),
	} {
		text += fmt.Sprintf("\n%s %s\n", one, one.Kind())
		if one.Kind() == reflect.Func {
			text += fmt.Sprintf("  in %d out %d\n", one.NumIn(), one.NumOut())
		}
		for i := range one.NumMethod() {
			text += fmt.Sprintf("  %s %s\n", one.Method(i).Name, one.Method(i).Type)
		}
		if one.Kind() == reflect.Struct {
			for _, field := range reflect.VisibleFields(one) {
				text += fmt.Sprintf("  %s %s\n", field.Name, field.Type)
			}
		}
	}
	const file = "testdata/contract.txt"
	was, _ := os.ReadFile(file)
	switch {
	case string(was) == text:
	case os.Getenv("UPDATE_GOLDEN") == "1":
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s has another contract; if drivers break by the change, raise Contract (here and in runner/), then UPDATE_GOLDEN=1:\n%s", file, strings.TrimSpace(text))
	}
}
