package lostlock

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
)

// Conn is a plain connection, for tests that use no Redis client. Goroutines may share it: one command follows the other.
type Conn struct {
	turn   sync.Mutex
	socket net.Conn
	input  *bufio.Reader
}

// Dial opens a connection.
func Dial(addr string) (*Conn, error) {
	socket, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Conn{socket: socket, input: bufio.NewReader(socket)}, nil
}

// Do sends one command. It returns a string, an int64, a []any, or nil for a null reply, and an error for an error reply.
func (c *Conn) Do(words ...string) (any, error) {
	var request strings.Builder
	fmt.Fprintf(&request, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(&request, "$%d\r\n%s\r\n", len(word), word)
	}
	c.turn.Lock()
	defer c.turn.Unlock()
	if _, err := io.WriteString(c.socket, request.String()); err != nil {
		return nil, err
	}
	return c.read()
}

// Close closes the connection.
func (c *Conn) Close() error { return c.socket.Close() }

func (c *Conn) read() (any, error) {
	line, err := c.input.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" {
		return nil, errors.New("the server sent an empty line")
	}
	kind, rest := line[0], line[1:]
	switch kind {
	case '-':
		return nil, errors.New(rest)
	case ':':
		return strconv.ParseInt(rest, 10, 64)
	case '$', '*':
		size, err := strconv.Atoi(rest)
		if err != nil || size < 0 {
			return nil, err
		}
		if kind == '$' {
			text := make([]byte, size+2)
			_, err := io.ReadFull(c.input, text)
			return string(text[:size]), err
		}
		items := make([]any, size)
		for i := range items {
			if items[i], err = c.read(); err != nil {
				return nil, err
			}
		}
		return items, nil
	}
	return rest, nil
}
