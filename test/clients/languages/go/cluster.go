package main

import (
	"bufio"
	"fmt"
	"os"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

// onCluster holds a lock while the primary of the lock's slot dies, and releases it on the promoted replica.
func onCluster(addresses []string) {
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addresses})
	defer client.Close()
	lock, err := redislock.New(client).Obtain(ctx, "go-redis", 10*time.Minute, nil)
	tell("acquired", err)
	fmt.Println("held go-redis")
	bufio.NewReader(os.Stdin).ReadString('\n')
	eventually("the client to follow", func() bool { return client.Get(ctx, "go-redis").Err() == nil })
	tell("still held", client.Get(ctx, "go-redis").Val() == lock.Token())
	second := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addresses})
	defer second.Close()
	_, err = redislock.New(second).Obtain(ctx, "go-redis", time.Minute, nil)
	tell("refused", err)
	tell("release", lock.Release(ctx))
	tell("taken again", second.SetNX(ctx, "go-redis", "x", time.Minute).Val())
}
