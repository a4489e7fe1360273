// A lock that is lost in a failover, on demand. Needs Node.js: `go test`.
package example

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

var ready = regexp.MustCompile(`(Lab ready|Ready to accept connections) tcp (\d+)`)

// start starts a primary with a replica. It returns the address of the primary, and the one that answers LAB.
func start(t *testing.T) (string, string) {
	command := os.Getenv("LOSTLOCK")
	if command == "" {
		command = "npx --no -- lostlock"
	}
	words := append(strings.Fields(command), "--lab", "--port", "0", "--exit-with-parent")
	process := exec.Command(words[0], words[1:]...)
	input, _ := process.StdinPipe()
	output, _ := process.StdoutPipe()
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		input.Close()
		process.Wait()
	})
	ports := map[string]string{}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if found := ready.FindStringSubmatch(lines.Text()); found != nil {
			ports[found[1]] = "127.0.0.1:" + found[2]
			if found[1] != "Lab ready" {
				break
			}
		}
	}
	return ports["Ready to accept connections"], ports["Lab ready"]
}

func TestTwoClientsHoldOneLock(t *testing.T) {
	ctx := context.Background()
	primary, control := start(t)
	lab := redis.NewClient(&redis.Options{Addr: control})
	client := redis.NewClient(&redis.Options{Addr: primary, MaxRetries: 100, MinRetryBackoff: 20 * time.Millisecond})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(lab.Do(ctx, "LAB", "SYNC").Err())
	must(lab.Do(ctx, "LAB", "HOLD", "redis-1", "redis-2").Err()) // The replica receives nothing from now on.
	must(client.SetNX(ctx, "lock", "A", 30*time.Second).Err())
	must(lab.Do(ctx, "LAB", "FAILOVER", "CRASH").Err())
	granted, err := client.SetNX(ctx, "lock", "B", 30*time.Second).Result()
	must(err)
	if !granted {
		t.Fatal("the new primary knows the lock")
	}
	lost, err := lab.Do(ctx, "LAB", "LOST").Slice()
	must(err)
	if len(lost) != 1 {
		t.Fatalf("lost: %v", lost)
	}
}
