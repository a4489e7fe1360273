// Package lostlock starts lostlock, a Redis-compatible server for testing distributed locks, from Go tests.
package lostlock

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var ready = regexp.MustCompile(`(Lab ready|Ready to accept connections) tcp (\d+)`)

// Server is a running lostlock.
type Server struct {
	// Addr is the address for clients, such as 127.0.0.1:40001.
	Addr string
	// URL is the address for clients, such as redis://127.0.0.1:40001.
	URL string
}

// Pair is a primary with replicas. Its address leads to the primary, also after a failover.
type Pair struct {
	Server
	t   testing.TB
	lab *Conn
}

// Lost is an acknowledged write that the new primary does not have.
type Lost struct {
	Key, Holder, Client string
}

// Command returns the words that start lostlock: the environment's LOSTLOCK, or npx --yes lostlock.
func Command() []string {
	if command := os.Getenv("LOSTLOCK"); command != "" {
		return strings.Fields(command)
	}
	return []string{"npx", "--yes", "lostlock"}
}

// Start starts a server for the test, which stops it at its end. The flags are those of npx lostlock --help.
func Start(t testing.TB, flags ...string) *Server {
	t.Helper()
	return server(start(t, flags)["Ready to accept connections"])
}

// StartPair starts a primary with a replica for the test, which stops them at its end.
func StartPair(t testing.TB, flags ...string) *Pair {
	t.Helper()
	ports := start(t, append([]string{"--lab"}, flags...))
	lab, err := Dial("127.0.0.1:" + ports["Lab ready"])
	if err != nil {
		t.Fatalf("lostlock: %v", err)
	}
	t.Cleanup(func() { lab.Close() })
	return &Pair{Server: *server(ports["Ready to accept connections"]), t: t, lab: lab}
}

// Lab sends a LAB command, such as Lab("CRASH", "redis-1"). An error ends the test.
func (p *Pair) Lab(words ...string) any {
	p.t.Helper()
	reply, err := p.lab.Do(append([]string{"LAB"}, words...)...)
	if err != nil {
		p.t.Fatalf("LAB %s: %v", strings.Join(words, " "), err)
	}
	return reply
}

// Hold stops replication to the first replica: it receives nothing until Release.
func (p *Pair) Hold() {
	p.t.Helper()
	p.Lab("SYNC")
	p.Lab("HOLD", "redis-1", "redis-2")
}

// Release delivers what was held.
func (p *Pair) Release() {
	p.t.Helper()
	p.Lab("RELEASE", "redis-1", "redis-2")
}

// Failover crashes the primary and promotes a replica. It returns the acknowledged writes that are lost.
func (p *Pair) Failover() []Lost {
	p.t.Helper()
	p.Lab("FAILOVER", "CRASH")
	all, _ := p.Lab("LOST").([]any)
	lost := make([]Lost, 0, len(all))
	for _, each := range all {
		fields := fieldsOf(each)
		lost = append(lost, Lost{Key: fields["key"], Holder: fields["holder"], Client: fields["client"]})
	}
	return lost
}

func server(port string) *Server {
	return &Server{Addr: "127.0.0.1:" + port, URL: "redis://127.0.0.1:" + port}
}

// start runs the command until it listens, and returns its ports. Its standard input ends with the test.
func start(t testing.TB, flags []string) map[string]string {
	t.Helper()
	words := append(append(Command(), "--port", "0", "--exit-with-parent"), flags...)
	process := exec.Command(words[0], words[1:]...)
	var errors bytes.Buffer
	process.Stderr = &errors
	input, err := process.StdinPipe()
	if err != nil {
		t.Fatalf("lostlock: %v", err)
	}
	output, err := process.StdoutPipe()
	if err != nil {
		t.Fatalf("lostlock: %v", err)
	}
	if err := process.Start(); err != nil {
		t.Fatalf("lostlock: %v", err)
	}
	ports := map[string]string{}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		found := ready.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		ports[found[1]] = found[2]
		if found[1] != "Lab ready" {
			t.Cleanup(func() {
				input.Close()
				process.Wait()
			})
			return ports
		}
	}
	input.Close()
	t.Fatal(fmt.Sprintf("%s ended: %v: %s", words[0], process.Wait(), strings.TrimSpace(errors.String())))
	return nil
}

// fieldsOf turns a reply of names and values in turn into a map.
func fieldsOf(reply any) map[string]string {
	words, _ := reply.([]any)
	fields := map[string]string{}
	for i := 0; i+1 < len(words); i += 2 {
		fields[fmt.Sprint(words[i])] = fmt.Sprint(words[i+1])
	}
	return fields
}
