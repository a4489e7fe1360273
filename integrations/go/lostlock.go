// Package lostlock starts lostlock, a Redis-compatible server for testing distributed locks, from Go tests.
package lostlock

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
)

var word, quote = regexp.MustCompile(`(?:"[^"]*"|'[^']*'|[^\s"'])+`), regexp.MustCompile(`["']`)

var ready = regexp.MustCompile(`(Lab ready|Ready to accept connections) tcp (\d+)`)

// Server is a running lostlock.
type Server struct {
	t testing.TB
	// The address that answers LAB, the server's password, and the connection for LAB, which Lab opens.
	labAddr, password string
	lab               *labConn
	// Addr is the address for clients, such as 127.0.0.1:40001.
	Addr string
	// URL is the address for clients, such as redis://127.0.0.1:40001.
	URL string
}

// labConn is the connection to the port that answers LAB. Goroutines may share it.
type labConn struct {
	once sync.Once
	conn *Conn
	err  error
}

// Pair is a primary with replicas. Its address leads to the primary, also after a failover.
type Pair struct {
	Server
	// The streams that Hold has stopped: from and to.
	held [][2]string
}

// Lost is an acknowledged write that the new primary does not have.
type Lost struct {
	Key, Holder, Client string
}

// Command returns the words that start lostlock: the environment's LOSTLOCK, or npx --no -- lostlock. A path with blanks
// stands alone or in quotes.
func Command() []string {
	command := strings.TrimSpace(os.Getenv("LOSTLOCK"))
	if command == "" {
		return []string{"npx", "--no", "--", "lostlock"}
	}
	if file, err := os.Stat(command); err == nil && !file.IsDir() {
		return []string{command}
	}
	words := word.FindAllString(command, -1)
	for i := range words {
		words[i] = quote.ReplaceAllString(words[i], "")
	}
	return words
}

// Start starts a server for the test, which stops it at its end. The flags are those of npx lostlock --help.
func Start(t testing.TB, flags ...string) *Server {
	t.Helper()
	return server(t, start(t, flags), flags)
}

// StartPair starts a primary with a replica for the test, which stops them at its end.
func StartPair(t testing.TB, flags ...string) *Pair {
	t.Helper()
	ports := start(t, append([]string{"--lab"}, flags...))
	return &Pair{Server: *server(t, ports, flags)}
}

// Lab sends a LAB command, such as Lab("ADVANCE", "30000"). An error ends the test.
func (s *Server) Lab(words ...string) any {
	s.t.Helper()
	s.lab.once.Do(func() {
		s.lab.conn, s.lab.err = Dial(s.labAddr)
		if s.lab.err != nil {
			return
		}
		s.t.Cleanup(func() { s.lab.conn.Close() })
		if s.password != "" {
			_, s.lab.err = s.lab.conn.Do("AUTH", s.password)
		}
	})
	if s.lab.err != nil {
		s.t.Fatalf("lostlock: %v", s.lab.err)
	}
	reply, err := s.lab.conn.Do(append([]string{"LAB"}, words...)...)
	if err != nil {
		s.t.Fatalf("LAB %s: %v", strings.Join(words, " "), err)
	}
	return reply
}

// Hold stops replication: no replica receives anything until Release.
func (p *Pair) Hold() {
	p.t.Helper()
	p.Lab("SYNC")
	primary, replicas := "", []string{}
	nodes, _ := p.Lab("NODES").([]any)
	for _, each := range nodes {
		if node := fieldsOf(each); node["role"] == "primary" {
			primary = node["name"].(string)
		} else {
			replicas = append(replicas, node["name"].(string))
		}
	}
	p.held = nil
	for _, replica := range replicas {
		p.held = append(p.held, [2]string{primary, replica})
		p.Lab("HOLD", primary, replica)
	}
}

// Release delivers what was held.
func (p *Pair) Release() {
	p.t.Helper()
	for _, stream := range p.held {
		p.Lab("RELEASE", stream[0], stream[1])
	}
	p.held = nil
}

// Failover crashes the primary and promotes a replica. It returns the acknowledged writes that this failover has lost.
// Lab("LOST") lists those of all failovers.
func (p *Pair) Failover() []Lost {
	p.t.Helper()
	all, _ := fieldsOf(p.Lab("FAILOVER", "CRASH"))["lost"].([]any)
	lost := make([]Lost, 0, len(all))
	for _, each := range all {
		write := fieldsOf(each)
		lost = append(lost, Lost{Key: text(write["key"]), Holder: text(write["holder"]), Client: text(write["client"])})
	}
	return lost
}

// server is the server at these ports, with the password that the flags give it.
func server(t testing.TB, ports map[string]string, flags []string) *Server {
	addr := "127.0.0.1:" + ports["Ready to accept connections"]
	s := &Server{t: t, Addr: addr, URL: "redis://" + addr, labAddr: addr, lab: &labConn{}}
	if port := ports["Lab ready"]; port != "" {
		s.labAddr = "127.0.0.1:" + port
	}
	for i := 0; i+1 < len(flags); i++ {
		if flags[i] == "--requirepass" {
			s.password = flags[i+1]
			s.URL = (&url.URL{Scheme: "redis", User: url.UserPassword("", s.password), Host: addr}).String()
		}
	}
	return s
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
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		found := ready.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		ports[found[1]] = found[2]
		if found[1] != "Lab ready" {
			// A server whose pipe is full would wait, so its log is read to the end.
			go io.Copy(io.Discard, output)
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
func fieldsOf(reply any) map[string]any {
	words, _ := reply.([]any)
	fields := map[string]any{}
	for i := 0; i+1 < len(words); i += 2 {
		fields[fmt.Sprint(words[i])] = words[i+1]
	}
	return fields
}

// text is a value as text; empty for none.
func text(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}
