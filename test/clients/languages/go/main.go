// Command talk prints what Go clients and lock libraries hear: beside redis-server and beside lostlock it must print the same lines.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

func tell(what string, values ...any) {
	fmt.Println(what+":", fmt.Sprint(values...))
}

// eventually waits up to two minutes until the request succeeds: a failover takes its time.
func eventually(what string, request func() bool) {
	for range 1200 {
		if request() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	tell("never: " + what)
}

// portOfPrimary gives the port that the Sentinel names, or nothing when it does not answer.
func portOfPrimary(sentinel *redis.SentinelClient) string {
	address := sentinel.GetMasterAddrByName(ctx, "mymaster").Val()
	if len(address) < 2 {
		return ""
	}
	return address[1]
}

// behindSentinels holds a lock while the Sentinels replace the primary.
func behindSentinels(addresses []string) {
	client := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "mymaster", SentinelAddrs: addresses})
	defer client.Close()
	var sentinels []*redis.SentinelClient
	for _, address := range addresses {
		sentinel := redis.NewSentinelClient(&redis.Options{Addr: address})
		defer sentinel.Close()
		sentinels = append(sentinels, sentinel)
	}
	lock, err := redislock.New(client).Obtain(ctx, "behind-go", 10*time.Minute, nil)
	tell("lock behind Sentinels", err)
	tell("copies", client.Wait(ctx, 2, 30*time.Second))
	before := portOfPrimary(sentinels[0])
	eventually("a failover", func() bool {
		port := portOfPrimary(sentinels[0])
		if port == before {
			// Refused while it goes on, and begun anew if it was given up.
			sentinels[0].Failover(ctx, "mymaster")
		}
		// A Sentinel that names the old primary still would send the client back to it.
		return port != before && port == portOfPrimary(sentinels[1]) && port == portOfPrimary(sentinels[2])
	})
	eventually("the client to follow", func() bool {
		return strings.Contains(client.Info(ctx, "server").Val(), "tcp_port:"+portOfPrimary(sentinels[0])+"\r\n")
	})
	tell("refused", client.SetNX(ctx, "behind-go", "x", time.Minute).Val())
	tell("release", lock.Release(ctx))
}

// addressesOf gives the addresses of ports that are separated by commas.
func addressesOf(ports string) []string {
	var addresses []string
	for _, port := range strings.Split(ports, ",") {
		addresses = append(addresses, "127.0.0.1:"+port)
	}
	return addresses
}

func main() {
	if os.Args[1] == "cluster" {
		onCluster(addressesOf(os.Args[2]))
		return
	}
	for _, protocol := range []int{2, 3} {
		client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1], Protocol: protocol})
		client.FlushAll(ctx)
		tell("ping", client.Ping(ctx))
		locks(client)
		contend(redsync.New(goredis.NewPool(client)))
		requests(client)
		data(client)
		library := fmt.Sprintf("library%d", protocol)
		tell("load", client.FunctionLoad(ctx, "#!lua name="+library+"\nredis.register_function('"+library+"', function(k, a) return a[1] end)"))
		tell("fcall", client.FCall(ctx, library, nil, "argument"))
		client.Close()
	}
	behindSentinels(addressesOf(os.Args[2]))
}

func locks(client *redis.Client) {
	mutex := redsync.New(goredis.NewPool(client)).NewMutex("redsync")
	tell("redsync lock", mutex.Lock())
	extended, err := mutex.Extend()
	tell("redsync extend", extended, err)
	unlocked, err := mutex.Unlock()
	tell("redsync unlock", unlocked, err)

	locker := redislock.New(client)
	lock, err := locker.Obtain(ctx, "redislock", time.Minute, nil)
	tell("obtain", err)
	_, err = locker.Obtain(ctx, "redislock", time.Minute, nil)
	tell("obtain what is held", err)
	left, err := lock.TTL(ctx)
	tell("ttl", left > 0, err)
	tell("refresh", lock.Refresh(ctx, time.Minute, nil))
	tell("release", lock.Release(ctx))
	tell("release twice", lock.Release(ctx))
}

// Eight goroutines on one lock: how many had it, and how often two had it at once.
func contend(locks *redsync.Redsync) {
	var group sync.WaitGroup
	var turns, inside, overlaps atomic.Int64
	for range 8 {
		group.Go(func() {
			for range 25 {
				mutex := locks.NewMutex("contended", redsync.WithTries(100_000), redsync.WithRetryDelay(time.Millisecond))
				if mutex.Lock() != nil {
					return
				}
				if inside.Add(1) > 1 {
					overlaps.Add(1)
				}
				turns.Add(1)
				inside.Add(-1)
				_, _ = mutex.Unlock()
			}
		})
	}
	group.Wait()
	tell("contended", turns.Load(), " ", overlaps.Load())
}

func requests(client *redis.Client) {
	pubsub := client.Subscribe(ctx, "news")
	_, err := pubsub.Receive(ctx)
	tell("subscribe", err)
	tell("publish", client.Publish(ctx, "news", "hello"))
	tell("message", <-pubsub.Channel())
	pubsub.Close()

	sent, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for range 100 {
			pipe.Incr(ctx, "counted")
		}
		return nil
	})
	tell("pipeline", len(sent), err)
	replies, err := client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, "string", "1", 0)
		pipe.LPush(ctx, "string", "x")
		return nil
	})
	tell("exec", replies, err)
	tell("exec of what changed", client.Watch(ctx, func(tx *redis.Tx) error {
		client.Set(ctx, "string", "2", 0)
		_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error { return pipe.Get(ctx, "string").Err() })
		return err
	}, "string"))
	script := redis.NewScript("return {KEYS[1], ARGV[1], 1.5, redis.status_reply('FINE'), false}")
	tell("script", script.Run(ctx, client, []string{"key"}, "argument"))
	known, err := client.Command(ctx).Result()
	tell("command", known["set"].Arity, known["set"].Flags, known["set"].ACLFlags, err)
	info, err := client.ClientInfo(ctx).Result()
	tell("client info", info.Resp, info.DB, err)
}

func data(client *redis.Client) {
	tell("hash", client.HSet(ctx, "h", "a", "1"), client.HGetAll(ctx, "h"))
	tell("zset", client.ZAdd(ctx, "z", redis.Z{Score: 1.5, Member: "m"}), client.ZRangeWithScores(ctx, "z", 0, -1))
	tell("stream", client.XAdd(ctx, &redis.XAddArgs{Stream: "x", ID: "1-1", Values: []string{"a", "b"}}))
	tell("group", client.XGroupCreate(ctx, "x", "g", "0"), client.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "c", Streams: []string{"x", ">"}}))
	tell("pending", client.XPending(ctx, "x", "g"))
	tell("blocked", client.BLPop(ctx, time.Second, "nothing"))
	tell("geo", client.GeoAdd(ctx, "geo", &redis.GeoLocation{Name: "p", Longitude: 1, Latitude: 2}), *client.GeoPos(ctx, "geo", "p").Val()[0])
	tell("acl", client.ACLWhoAmI(ctx), client.ConfigGet(ctx, "hz"))
}
