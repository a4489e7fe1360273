package lostlock

import (
	"net"
	"os"
	"path/filepath"
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

func TestAHoldStopsEveryReplicaAndAFailoverReturnsItsOwnLossesOnly(t *testing.T) {
	pair := StartPair(t, "--replicas", "2")
	for _, holder := range []string{"A", "B"} {
		pair.Hold()
		do(t, pair.Addr, "SET", "lock:"+holder, holder)
		if lost := pair.Failover(); len(lost) != 1 || lost[0].Holder != holder {
			t.Fatalf("lost: %v", lost)
		}
		pair.Release()
		for _, each := range pair.Lab("NODES").([]any) {
			if node := fieldsOf(each); node["state"] == "down" {
				pair.Lab("RESTART", node["name"].(string))
			}
		}
	}
	if all := pair.Lab("LOST").([]any); len(all) != 2 {
		t.Fatalf("all losses: %v", all)
	}
}

func TestSeveralGoroutinesMayUseTheLabOfAPair(t *testing.T) {
	pair := StartPair(t)
	replies := make(chan any)
	for i := 0; i < 200; i++ {
		go func() { replies <- pair.Lab("CLOCK", "redis-1") }()
	}
	for i := 0; i < 200; i++ {
		if reply, ok := (<-replies).(int64); !ok {
			t.Fatalf("a reply of another command: %v", reply)
		}
	}
}

func TestACommandMayHaveBlanksAndQuotes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lost lock")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for command, expected := range map[string]string{
		"npx --no -- lostlock":     "npx|--no|--|lostlock",
		`'a b/lostlock' "c d" e`: "a b/lostlock|c d|e",
		path:                     path,
		" ":                      "npx|--no|--|lostlock",
	} {
		t.Setenv("LOSTLOCK", command)
		if words := strings.Join(Command(), "|"); words != expected {
			t.Fatalf("%s: %s", command, words)
		}
	}
}

func TestALongLogDoesNotStopTheServer(t *testing.T) {
	server := Start(t)
	script := "redis.log(redis.LOG_WARNING, '" + strings.Repeat("x", 1000) + "')"
	for i := 0; i < 200; i++ {
		do(t, server.Addr, "EVAL", script, "0")
	}
}
