// A program for lostlock's explorations: bsm/redislock, by the protocol of docs/programs.md, without a front end.
package main

import (
	"context"
	"os"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

// client takes the lock, and uses what it protects.
func client(lab *redis.Client, token, url string, lease time.Duration) error {
	options, _ := redis.ParseURL(url)
	rdb := redis.NewClient(options)
	defer rdb.Close()
	waits, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	lock, err := redislock.New(rdb).Obtain(waits, "stock:lock", lease, &redislock.Options{RetryStrategy: redislock.LinearBackoff(20 * time.Millisecond)})
	if err != nil {
		return err
	}
	visit, err := lab.Do(ctx, "LAB", "ENTER", token, "stock").Int()
	if err != nil {
		return err
	}
	lab.Do(ctx, "LAB", "SLEEP", token, 100)
	lab.Do(ctx, "LAB", "WRITE", token, visit)
	lab.Do(ctx, "LAB", "LEAVE", token, visit)
	return lock.Release(waits)
}

func main() {
	options, err := redis.ParseURL(os.Getenv("LOSTLOCK_LAB"))
	if err != nil {
		panic(err)
	}
	options.ReadTimeout, options.MaxRetries, options.DisableIdentity = -1, -1, true
	lab := redis.NewClient(options)
	if err := lab.Do(ctx, "LAB", "HELLO", 1).Err(); err != nil {
		panic(err)
	}
	for {
		told, err := lab.Do(ctx, "LAB", "NEXT").Result()
		if err != nil {
			return
		}
		world := told.(map[interface{}]interface{})
		token := world["token"].(string)
		url := world["urls"].([]interface{})[0].(string)
		lease := time.Duration(world["lease"].(int64)) * time.Millisecond
		words := []interface{}{"LAB", "DONE", token}
		if err := client(lab, token, url, lease); err != nil {
			words = append(words, err.Error())
		}
		lab.Do(ctx, words...)
	}
}
