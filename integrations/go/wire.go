package lostlock

import (
	"fmt"
	"strconv"
	"time"
)

// Filter selects requests. Empty fields match every request.
type Filter struct {
	// From is the client's name, from Actor or CLIENT SETNAME.
	From string
	// Node is the name of a node of a pair.
	Node string
	// Command is a command's name, such as set or client list.
	Command string
	// Key is a pattern that one of the request's keys must match.
	Key string
	// Argument is a word that must be among the arguments.
	Argument string
	// Nth is the request to act on, of those that match, counted from 1; 0 means all. Only rules have it.
	Nth int
}

func (f Filter) words() []string {
	words := []string{}
	for _, each := range [][2]string{{"FROM", f.From}, {"ON", f.Node}, {"COMMAND", f.Command}, {"KEY", f.Key}, {"ARGUMENT", f.Argument}} {
		if each[1] != "" {
			words = append(words, each[0], each[1])
		}
	}
	if f.Nth != 0 {
		words = append(words, "NTH", strconv.Itoa(f.Nth))
	}
	return words
}

// Intercept adds a rule for requests and returns its id. The act is DISCONNECT, DISCONNECT-AFTER or REPLY-LOST, or ERROR, REPLY
// or DELAY with a value: Intercept(Filter{Command: "set", Nth: 1}, "ERROR", "OOM by a rule").
func (s *Server) Intercept(filter Filter, act ...string) int {
	s.t.Helper()
	id, _ := s.Lab(append(append([]string{"INTERCEPT", "ADD"}, filter.words()...), act...)...).(int64)
	return int(id)
}

// Hits returns on how many requests a rule has acted.
func (s *Server) Hits(rule int) int {
	s.t.Helper()
	rules, _ := s.Lab("INTERCEPT", "LIST").([]any)
	for _, each := range rules {
		if fields := fieldsOf(each); fields["id"] == int64(rule) {
			hits, _ := fields["hits"].(int64)
			return int(hits)
		}
	}
	s.t.Fatalf("lostlock: there is no rule %d", rule)
	return 0
}

// Remove removes a rule.
func (s *Server) Remove(rule int) {
	s.t.Helper()
	s.Lab("INTERCEPT", "REMOVE", strconv.Itoa(rule))
}

// Advance lets time pass at once on the server. The timers of the test are not moved. It is rounded to milliseconds.
func (s *Server) Advance(d time.Duration) {
	s.t.Helper()
	s.Lab("ADVANCE", strconv.FormatInt(d.Milliseconds(), 10))
}

// Seed stores keys in one step: JSON with an object of keys and values, or what Dump returned.
func (s *Server) Seed(json string) {
	s.t.Helper()
	s.Lab("SEED", json)
}

// Dump returns every key as JSON.
func (s *Server) Dump() string {
	s.t.Helper()
	return text(s.Lab("DUMP"))
}

// Holder is a client that holds a lock, or believes so, or is inside.
type Holder struct {
	Lock, Client, Token       string
	Believes, Granted, Inside bool
}

// Holders returns the clients that hold a lock now, or believe so, or are inside.
func (p *Pair) Holders(key string) []Holder {
	p.t.Helper()
	all, _ := p.Lab("HOLDERS", key).([]any)
	holders := make([]Holder, 0, len(all))
	for _, each := range all {
		f := fieldsOf(each)
		holders = append(holders, Holder{
			Lock: text(f["lock"]), Client: text(f["client"]), Token: text(f["token"]),
			Believes: f["believes"] == int64(1), Granted: f["granted"] == int64(1), Inside: f["inside"] == int64(1),
		})
	}
	return holders
}

// Overlap is a time in which two clients believed that they held one lock, or were inside one resource.
type Overlap struct {
	Lock    string
	Clients [2]string
	// From and To are counted from the start of the lab.
	From, To time.Duration
	Inside   bool
}

// Overlaps returns the times in which two clients held one lock. It is empty when no lock was lost.
func (p *Pair) Overlaps() []Overlap {
	p.t.Helper()
	all, _ := p.Lab("OVERLAPS").([]any)
	overlaps := make([]Overlap, 0, len(all))
	for _, each := range all {
		f := fieldsOf(each)
		clients, _ := f["clients"].([]any)
		from, _ := f["from"].(int64)
		to, _ := f["to"].(int64)
		overlaps = append(overlaps, Overlap{
			Lock: text(f["lock"]), Clients: [2]string{fmt.Sprint(clients[0]), fmt.Sprint(clients[1])},
			From: time.Duration(from) * time.Millisecond, To: time.Duration(to) * time.Millisecond,
			Inside: f["inside"] == int64(1),
		})
	}
	return overlaps
}

// Actor returns a URL for one client, whose links, requests and lost writes have its name.
func (p *Pair) Actor(name string) string {
	p.t.Helper()
	return text(p.Lab("ACTOR", name))
}

// Enter says that a client is inside a resource from now on.
func (p *Pair) Enter(client, resource string) {
	p.t.Helper()
	p.Lab("ENTER", client, resource)
}

// Leave says that a client has left a resource.
func (p *Pair) Leave(client, resource string) {
	p.t.Helper()
	p.Lab("LEAVE", client, resource)
}

// Note adds a sentence about a client to the story.
func (p *Pair) Note(client, sentence string) {
	p.t.Helper()
	p.Lab("NOTE", client, sentence)
}

// New starts the nodes anew, as at the beginning and at the same address, for the next test.
func (p *Pair) New() {
	p.t.Helper()
	p.Lab("NEW")
	p.held = nil
}
