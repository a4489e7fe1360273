/** Requests about the databases that a user may use, whose replies are compared with valkey-server 9.1, one a line. */
import type { Session } from './sessions.ts';

export const DATABASE_SESSIONS: readonly Session[] = [
  [
    'ACL rules for databases',
    `
    ACL SETUSER u on nopass ~* +@all db=2
    ACL DRYRUN u SELECT 2
    ACL DRYRUN u SELECT 3
    ACL DRYRUN u SELECT x
    ACL DRYRUN u SELECT -1
    ACL DRYRUN u SELECT 99
    ACL DRYRUN u GET a
    ACL DRYRUN u FLUSHALL
    ACL DRYRUN u SWAPDB 2 3
    ACL DRYRUN u SWAPDB 3 2
    ACL DRYRUN u SWAPDB 2 2
    ACL DRYRUN u SWAPDB x y
    ACL DRYRUN u MOVE a 2
    ACL DRYRUN u MOVE a x
    ACL DRYRUN u COPY a b DB 2
    ACL DRYRUN u COPY a b DB x
    ACL DRYRUN u COPY a b REPLACE DB 3
    ACL DRYRUN u COPY a b DB 2 DB 3
    ACL DRYRUN u COPY a b DB
    ACL DRYRUN u MIGRATE h 1 a 2 10
    ACL DRYRUN u MIGRATE h 1 a 3 10
    ACL DRYRUN u PING
    ACL DRYRUN u PUBLISH c x
    ACL DRYRUN u INFO
    ACL DRYRUN u DBSIZE
    ACL DRYRUN u KEYS *
    ACL DRYRUN u SCAN 0
    ACL DRYRUN u RANDOMKEY
    ACL DRYRUN u FLUSHDB
    ACL DRYRUN u EVAL "return 1" 0
    ACL DRYRUN u EVAL "return 1" 1 a
    ACL DRYRUN u FCALL f 0
    ACL DRYRUN u FCALL f 1 a
    ACL DRYRUN u SCRIPT LOAD x
    ACL DRYRUN u FUNCTION LIST
    ACL DRYRUN u MULTI
    ACL DRYRUN u EXEC
    ACL DRYRUN u WATCH a
    ACL DRYRUN u UNWATCH
    ACL DRYRUN u SAVE
    ACL DRYRUN u BGSAVE
    ACL DRYRUN u DEBUG OBJECT a
    ACL DRYRUN u DEBUG SLEEP 0
    ACL DRYRUN u OBJECT ENCODING a
    ACL DRYRUN u MEMORY USAGE a
    ACL DRYRUN u MEMORY STATS
    ACL DRYRUN u WAIT 0 0
    ACL DRYRUN u CONFIG GET a
    ACL DRYRUN u SORT a
    ACL DRYRUN u RESTORE a 0 x
    ACL DRYRUN u SUBSCRIBE c
    ACL DRYRUN u CLIENT LIST
    ACL DRYRUN u COMMAND
    ACL DRYRUN u CLUSTER INFO
    ACL DRYRUN u CLUSTER COUNTKEYSINSLOT 1
    ACL DRYRUN u CLUSTER GETKEYSINSLOT 1 2
    ACL DRYRUN u CLUSTER FLUSHSLOT 1
    ACL DRYRUN u CLUSTERSCAN 0
    ACL DRYRUN u ROLE
    ACL DRYRUN u REPLICAOF NO ONE
    ACL DRYRUN u HELLO 3
    ACL DRYRUN u AUTH a
    ACL DRYRUN u QUIT
    ACL DRYRUN u RESET
    ACL DRYRUN u ACL LIST
    ACL DRYRUN u TIME
    ACL DRYRUN u LASTSAVE
    ACL DRYRUN u SLOWLOG GET
    ACL DRYRUN u MONITOR
    ACL DRYRUN u SHUTDOWN
    ACL DRYRUN u PFDEBUG x y
    ACL DRYRUN u PFSELFTEST
    ACL DRYRUN u LOLWUT
    ACL DRYRUN u SPUBLISH c x
    ACL DRYRUN u CLIENT TRACKING ON
    ACL SETUSER v on nopass ~* +@all db=2 (+select db=3)
    ACL DRYRUN v SELECT 3
    ACL DRYRUN v SELECT 4
    ACL SETUSER w on nopass ~* +@all db=2 (+get db=3)
    ACL DRYRUN w SELECT 3
    ACL DRYRUN w SELECT 4
    ACL DRYRUN w SWAPDB 3 4
    ACL DRYRUN w MOVE a 3
    ACL DRYRUN w MOVE a 4
    ACL DRYRUN w GET a
    ACL DRYRUN w SET a b
    ACL SETUSER y on nopass ~a +@all db=0 (~b +get db=3)
    ACL DRYRUN y GET b
    ACL DRYRUN y GET c
    ACL DRYRUN y SET b x
    SELECT 3
    ACL DRYRUN y GET b
    ACL DRYRUN y GET a
    ACL DRYRUN y SET a b
    ACL DRYRUN y PUBLISH a b
    ACL DRYRUN y SELECT 1
    SELECT 0
    ACL SETUSER x on nopass ~* -@all +get db=2
    ACL DRYRUN x SET a b
    ACL DRYRUN x GET a
    ACL DRYRUN x SELECT 5
    ACL SETUSER x +select (-@all +get db=2)
    ACL DRYRUN x SELECT 5
    ACL GETUSER x
    ACL SETUSER z DB=1
    ACL SETUSER z db=01
    ACL SETUSER z "db= 1"
    ACL SETUSER z db=1,x
    ACL SETUSER z db=1,,2
    ACL SETUSER z db=,1
    ACL SETUSER z db=3,1,2
    ACL SETUSER z db=2147483648
    ACL SETUSER z db=2147483647
    ACL SETUSER z db=99999999999999999999
    ACL SETUSER z db=+1
    ACL SETUSER z db=1.5
    ACL SETUSER z db=4294967296
    ACL GETUSER z
    ACL SETUSER z db=3,1,2
    ACL SETUSER z db=9
    ACL GETUSER z
    ACL SETUSER z alldbs
    ACL SETUSER z db=9
    ACL GETUSER z
    ACL SETUSER z ALLDBS
    ACL SETUSER z RESETDBS
    ACL GETUSER z
    ACL SETUSER z reset
    ACL GETUSER z
    ACL SETUSER zz resetdbs
    ACL LIST
    ACL SETUSER zz alldbs
    ACL LIST
    ACL SETUSER zz %R~a &c db=1 +get
    ACL LIST
    ACL SETUSER zz (db=1)
    ACL SETUSER zz (resetdbs)
    ACL SETUSER zz (db=x)
    ACL SETUSER zz dbs=1
    ACL SETUSER zz db
    ACL SETUSER zz (alldbs)
    ACL LIST
    ACL GETUSER zz
    CONFIG GET databases
    ACL SETUSER zz resetdbs
    ACL LIST
    ACL SETUSER zz alldbs
    ACL LIST
    ACL SETUSER zz db=3,1,2,1 (resetdbs)
    ACL LIST
    ACL GETUSER zz
    ACL SETUSER zz db=1,-1
    ACL SETUSER zz db=1,-1,x
    ACL SETUSER zz db=x,-1
    ACL SETUSER zz db=99999999999999999999,x
    ACL SETUSER zz "db=1 "
    ACL SETUSER zz "db=1 ,2"
    ACL SETUSER zz db=0x1
    ACL SETUSER s on nopass ~* &* +@all db=2
    ACL DRYRUN s SPUBLISH c x
    ACL DRYRUN s SSUBSCRIBE c
    ACL DRYRUN s PUBLISH c x
    ACL DRYRUN s EVAL_RO x 0
    ACL DRYRUN s EVALSHA x 0
    ACL DRYRUN s FCALL_RO x 0
    ACL DRYRUN s BLPOP a 0
    ACL DRYRUN s SUNSUBSCRIBE c
    ACL DRYRUN s FUNCTION LOAD x
    ACL DRYRUN s FUNCTION FLUSH
    ACL DRYRUN s FUNCTION DELETE x
    ACL DRYRUN s FUNCTION RESTORE x
    ACL DRYRUN s SCRIPT FLUSH
    ACL DRYRUN s XINFO STREAM a
    ACL DRYRUN s XGROUP HELP
    ACL DRYRUN s OBJECT HELP
    ACL DRYRUN s MEMORY DOCTOR
    ACL DRYRUN s DEBUG DIGEST
    ACL DRYRUN s REPLCONF a b
    ACL DRYRUN s SYNC
    ACL DRYRUN s COMMAND GETKEYS a
    ACL DRYRUN s CLUSTER SLOTS
    ACL DRYRUN s CLUSTER KEYSLOT a
    ACL DRYRUN s CLUSTER DELSLOTS 1
    ACL DRYRUN s READONLY
    ACL DRYRUN s ASKING
    ACL DRYRUN s RESTORE-ASKING a 0 x
    ACL SETUSER t on nopass ~* &* +@all db=0
    ACL DRYRUN t FLUSHALL
    ACL DRYRUN t FLUSHDB
    ACL DRYRUN t MIGRATE h 1 a 3 10
    ACL DRYRUN t MIGRATE h 1 a 0 10
    ACL DRYRUN t MOVE a 99
    ACL DRYRUN t CLUSTER COUNTKEYSINSLOT 1
    ACL DRYRUN t DEBUG RELOAD
    ACL DRYRUN t SWAPDB 0 0
    ACL SETUSER r on nopass ~* &* +@all db=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
    ACL DRYRUN r FLUSHALL
    ACL DRYRUN r CLUSTER COUNTKEYSINSLOT 1
    ACL DRYRUN r SELECT 5
    ACL SETUSER q on nopass ~* &* +@all resetdbs
    ACL DRYRUN q SELECT 5
    ACL DRYRUN q PING
    ACL DRYRUN q FLUSHALL
    ACL SETUSER p on nopass ~* &* +@all resetdbs (alldbs +flushall)
    ACL DRYRUN p FLUSHALL
    ACL LIST`,
  ],
  [
    'what a user may do in databases',
    `
    ACL SETUSER s on nopass ~* &* +@all db=2
    AUTH s x
    GET a
    SELECT 3
    SELECT x
    MULTI
    SELECT 2
    SET a b
    EXEC
    MULTI
    GET a
    SELECT 3
    GET a
    EXEC
    EVAL "return redis.call('get','a')" 0
    EVAL "redis.call('select',3) return redis.call('get','a')" 0
    EVAL "return redis.pcall('move','a',3)" 0
    EVAL "return redis.acl_check_cmd('move','a',3)" 0
    EVAL "return redis.acl_check_cmd('get','a')" 0
    FLUSHALL
    SWAPDB 2 3
    COPY a b DB 3
    COPY a b
    MOVE a 1
    MULTI
    GET a
    ACL SETUSER s db=3
    GET a
    EXEC
    GET a
    WATCH a
    UNWATCH
    PING
    ACL SETUSER s alldbs
    GET a
    ACL DELUSER u v w y x z zz s t r q p`,
  ],
];
