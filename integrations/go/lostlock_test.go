package lostlock

import (
	"net"
	"strings"
	"testing"
)

func do(t *testing.T, addr string, words ...string) any {
	t.Helper()
	conn, err := Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	reply, err := conn.Do(words...)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func TestEveryTestHasAServerOfItsOwn(t *testing.T) {
	for _, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			server := Start(t)
			if reply := do(t, server.Addr, "SET", "my:lock", name, "PX", "30000", "NX"); reply != "OK" {
				t.Fatalf("the lock is taken: %v", reply)
			}
			if reply := do(t, server.Addr, "SET", "my:lock", "B", "PX", "30000", "NX"); reply != nil {
				t.Fatalf("the lock was given twice: %v", reply)
			}
			if server.URL != "redis://"+server.Addr {
				t.Fatalf("the URL is %s", server.URL)
			}
		})
	}
}

func TestTheServerIsGoneAfterItsTest(t *testing.T) {
	var addr string
	t.Run("a test", func(t *testing.T) { addr = Start(t).Addr })
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Fatal("the server still listens")
	}
}

func TestFlagsArePassed(t *testing.T) {
	conn, err := Dial(Start(t, "--requirepass", "secret").Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Do("GET", "k"); err == nil || !strings.HasPrefix(err.Error(), "NOAUTH") {
		t.Fatalf("no password was needed: %v", err)
	}
}

func TestALockIsLostInAFailover(t *testing.T) {
	pair := StartPair(t)
	pair.Hold()
	if reply := do(t, pair.Addr, "SET", "my:lock", "A", "PX", "30000", "NX"); reply != "OK" {
		t.Fatalf("the lock is taken: %v", reply)
	}
	lost := pair.Failover()
	if len(lost) != 1 || lost[0].Key != "my:lock" || lost[0].Holder != "A" {
		t.Fatalf("lost: %v", lost)
	}
	if reply := do(t, pair.Addr, "SET", "my:lock", "B", "PX", "30000", "NX"); reply != "OK" {
		t.Fatalf("the new primary knows the lock: %v", reply)
	}
}
