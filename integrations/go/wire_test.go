package lostlock

import (
	"net/url"
	"testing"
	"time"
)

func TestARuleBreaksTheConnectionAfterTheFirstSet(t *testing.T) {
	server := Start(t)
	rule := server.Intercept(Filter{Command: "set", Key: "my:*", Nth: 1}, "DISCONNECT-AFTER")
	if _, err := dial(t, server.Addr).Do("SET", "my:lock", "A"); err == nil {
		t.Fatal("the connection did not break")
	}
	if value, err := dial(t, server.Addr).Do("GET", "my:lock"); value != "A" {
		t.Fatal(value, err)
	}
	if hits := server.Hits(rule); hits != 1 {
		t.Fatal(hits)
	}
	server.Remove(rule)
}

func TestTimePassesAtOnce(t *testing.T) {
	server := Start(t)
	server.Seed(`{"stock": "5"}`)
	client := dial(t, server.Addr)
	if _, err := client.Do("SET", "stock", "6", "PX", "30000"); err != nil {
		t.Fatal(err)
	}
	server.Advance(30 * time.Second)
	if dump := server.Dump(); dump != "[]" {
		t.Fatal(dump)
	}
}

func TestAPairKnowsWhoIsInsideAndBeginsAnew(t *testing.T) {
	pair := StartPair(t, "--requirepass", "sec ret+")
	if address, err := url.Parse(pair.URL); err != nil || address.User.String() != ":sec%20ret+" {
		t.Fatal(pair.URL, err)
	}
	pair.Enter("A", "my:lock")
	pair.Enter("B", "my:lock")
	pair.Note("B", "came too early")
	overlaps := pair.Overlaps()
	if len(overlaps) != 1 || overlaps[0].Clients != [2]string{"A", "B"} || !overlaps[0].Inside {
		t.Fatal(overlaps)
	}
	pair.Leave("A", "my:lock")
	if holders := pair.Holders("my:lock"); len(holders) != 1 || holders[0].Client != "B" || !holders[0].Inside {
		t.Fatal(holders)
	}
	pair.New()
	if overlaps := pair.Overlaps(); len(overlaps) != 0 {
		t.Fatal(overlaps)
	}
}

// dial opens a connection for the length of the test.
func dial(t *testing.T, addr string) *Conn {
	t.Helper()
	client, err := Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}
