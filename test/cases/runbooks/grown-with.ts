/** Our own runbooks, each with the text of its alert. The query contains neither the title nor the alert name. */
export interface Written {
  readonly title: string;
  readonly content: string;
  readonly alert: string;
}

export const grownWith: readonly Written[] = [
  {
    title: 'PodCrashLooping',
    content:
      '# PodCrashLooping\n\n## Meaning\nA container exits again and again, and the kubelet waits longer before each new start.\n\n## Impact\nThe workload serves with fewer replicas, or not at all.\n\n## Diagnosis\nRead the last output with `kubectl logs --previous`. Look at the exit code in `kubectl describe pod`: 137 means that memory ran out, 1 an error of the program itself.\n\n## Mitigation\nRoll the deployment back if the image is new. Otherwise fix the configuration that the program complains about.',
    alert:
      'Pod shop/cart-7d9f (cart) is in waiting state (reason: "CrashLoopBackOff"). Container has restarted 6 times within the last 10 minutes.',
  },
  {
    title: 'DiskWillFill',
    content:
      '# DiskWillFill\n\n## Meaning\nThe filesystem of a host will have no space left within hours if it goes on as it does.\n\n## Diagnosis\nFind what grows: `du -x --max-depth=2 / | sort -n`. Deleted files that a process holds open count too: `lsof +L1`.\n\n## Mitigation\nRotate and remove old log files, extend the volume, or move data away.',
    alert:
      'Filesystem on /dev/sda1, mounted at /var, at node-3 is predicted to run out of space within the next 4 hours. 11% available space left.',
  },
  {
    title: 'InodesLow',
    content:
      '# InodesLow\n\n## Meaning\nA filesystem can hold no more files although there may be bytes left: its inodes are used up.\n\n## Diagnosis\n`df -i` shows the use. Directories with very many small files are sessions, mail queues and caches.\n\n## Mitigation\nDelete small files in bulk, or make the filesystem anew with more inodes.',
    alert: 'Filesystem on /dev/sdb1 at node-7 has only 2.4% available inodes left.',
  },
  {
    title: 'ClockSkew',
    content:
      '# ClockSkew\n\n## Meaning\nThe time of a host is away from that of its NTP servers.\n\n## Impact\nTokens are refused, traces have spans before their parents, and certificates look invalid.\n\n## Diagnosis\n`chronyc tracking`, `timedatectl`. Are UDP packets to port 123 let through?\n\n## Mitigation\nRestart chronyd, and step the clock with `chronyc makestep`.',
    alert: 'Clock at node-2 is out of sync by more than 0.05s. Ensure NTP is configured correctly on this host.',
  },
  {
    title: 'EtcdNoLeader',
    content:
      '# EtcdNoLeader\n\n## Meaning\nA member of the etcd cluster follows no leader. Without a leader nothing can be written, and the Kubernetes API goes read-only.\n\n## Diagnosis\n`etcdctl endpoint status --cluster -w table`. Are a majority of members up, and is their network and disk quick?\n\n## Mitigation\nStart the members that are down; where quorum is lost, restore from a snapshot.',
    alert: 'etcd cluster "main": member 10.0.0.4:2379 has no leader.',
  },
  {
    title: 'EtcdSlowDisk',
    content:
      '# EtcdSlowDisk\n\n## Meaning\netcd waits long for fsync of its write-ahead log.\n\n## Impact\nElections begin, and requests to the API server take long.\n\n## Diagnosis\nCompare `etcd_disk_wal_fsync_duration_seconds` of members. Who else writes to the same disk?\n\n## Mitigation\nGive etcd an SSD of its own, and move other writers away.',
    alert:
      'etcd cluster "main": 99th percentile fsync durations are 0.9s (normal is < 0.5s) on etcd instance 10.0.0.5:2379.',
  },
  {
    title: 'CertificateExpires',
    content:
      '# CertificateExpires\n\n## Meaning\nA TLS certificate is valid for a few days more only.\n\n## Diagnosis\n`openssl s_client -connect host:443 | openssl x509 -noout -dates`. Look at events of cert-manager and at its challenges.\n\n## Mitigation\nRenew it by hand: `cmctl renew`. If the DNS challenge fails, look at the credentials of the zone.',
    alert: 'The TLS certificate for shop.example.com expires in less than 7 days and has not been renewed.',
  },
  {
    title: 'ApiErrorBudgetBurn',
    content:
      '# ApiErrorBudgetBurn\n\n## Meaning\nThe API server fails or is slow for so many requests that its error budget will be spent before the window ends.\n\n## Diagnosis\nWhich verb and resource fail? `sum by (verb, resource, code) (rate(apiserver_request_total{code=~"5.."}[5m]))`. Are admission webhooks slow?\n\n## Mitigation\nStop the client that floods it, scale the control plane, remove a broken webhook.',
    alert: 'The API server is burning too much error budget: burn rate above 14.4 over 1h and 5m.',
  },
  {
    title: 'NodeNotReady',
    content:
      '# NodeNotReady\n\n## Meaning\nA node has not told the control plane for minutes that it is well. Its pods will be evicted.\n\n## Diagnosis\nCan the machine be reached by SSH? `systemctl status kubelet`, `journalctl -u kubelet`. Is the container runtime running, is memory or disk under pressure?\n\n## Mitigation\nRestart kubelet, or drain the node and replace it.',
    alert: 'node-11 has been unready for more than 15 minutes.',
  },
  {
    title: 'HpaMaxedOut',
    content:
      '# HpaMaxedOut\n\n## Meaning\nA horizontal autoscaler runs as many replicas as it may, and would like more.\n\n## Diagnosis\n`kubectl describe hpa`. Is the load real, or does each request cost more since the last release?\n\n## Mitigation\nRaise `maxReplicas` if the nodes have room, or make the workload cheaper.',
    alert: 'HPA shop/checkout has been running at max replicas for longer than 15 minutes.',
  },
  {
    title: 'JobFailed',
    content:
      '# JobFailed\n\n## Meaning\nA batch job used up its retries and did not complete.\n\n## Diagnosis\nLogs of its pods, and the events of the job. Did a schedule start it twice?\n\n## Mitigation\nDelete the failed job after its cause is gone, and start it again by hand from the cron job.',
    alert:
      'Job reports/nightly-export failed to complete. Removing failed job after investigation should clear this alert.',
  },
  {
    title: 'QueueLagGrows',
    content:
      '# QueueLagGrows\n\n## Meaning\nA consumer group of Kafka reads more slowly than producers write.\n\n## Impact\nOrders are confirmed late.\n\n## Diagnosis\n`kafka-consumer-groups --describe`: is one partition behind, or all? One partition points to a hot key, all to too few members or a slow database behind them.\n\n## Mitigation\nAdd members up to the number of partitions; raise fetch sizes.',
    alert:
      'Consumer group billing is 250,000 messages behind on topic orders and the lag has been rising for 20 minutes.',
  },
  {
    title: 'UnderReplicatedPartitions',
    content:
      '# UnderReplicatedPartitions\n\n## Meaning\nSome partitions have fewer in-sync replicas than they should: a broker is down or follows too slowly.\n\n## Diagnosis\n`kafka-topics --describe --under-replicated-partitions`. All with one broker in common? Look at its disk and garbage collection.\n\n## Mitigation\nBring the broker back, or reassign its partitions.',
    alert: 'Broker kafka-2 reports 34 partitions with an insufficient number of in-sync replicas.',
  },
  {
    title: 'PostgresReplicationLag',
    content:
      '# PostgresReplicationLag\n\n## Meaning\nA standby of PostgreSQL replays the write-ahead log late.\n\n## Impact\nReads from standbys show old data; a failover would lose it.\n\n## Diagnosis\n`select * from pg_stat_replication`. Long queries on the standby hold replay up.\n\n## Mitigation\nCancel them, or set max_standby_streaming_delay.',
    alert: 'PostgreSQL standby db-2 is 340 seconds behind the primary.',
  },
  {
    title: 'PostgresTooManyConnections',
    content:
      '# PostgresTooManyConnections\n\n## Meaning\nThe connection slots of PostgreSQL are nearly used up; new clients are refused with "sorry, too many clients already".\n\n## Diagnosis\nGroup `pg_stat_activity` by application and state. Many idle in transaction are a leak.\n\n## Mitigation\nPut pgbouncer before it, lower the pool sizes, terminate idle sessions.',
    alert: 'PostgreSQL db-1 uses 95% of max_connections.',
  },
  {
    title: 'RedisEvicting',
    content:
      '# RedisEvicting\n\n## Meaning\nRedis has reached maxmemory and throws keys away to make room.\n\n## Impact\nThe cache hit rate falls and the database behind it gets the load.\n\n## Diagnosis\n`redis-cli --bigkeys`, `info memory`. Do keys have a TTL?\n\n## Mitigation\nRaise maxmemory, or shorten TTLs.',
    alert:
      'Redis cache-1 evicted 5,200 keys per second during the last 5 minutes; used memory is at its configured maximum.',
  },
  {
    title: 'HighLatencyCheckout',
    content:
      '# HighLatencyCheckout\n\n## Meaning\nRequests to checkout take longer than a second at the 95th percentile.\n\n## Diagnosis\nLook at slow traces: is it payment, stock, or our own database? Payment providers announce disturbances on their status pages.\n\n## Mitigation\nSwitch to the second payment provider with the flag `payments.fallback`.',
    alert: 'p95 latency of checkout is 2.3 s, above 1 s for 10 minutes.',
  },
  {
    title: 'DnsErrors',
    content:
      '# DnsErrors\n\n## Meaning\nCoreDNS answers SERVFAIL for many names, or cannot reach the resolvers above it.\n\n## Diagnosis\n`kubectl -n kube-system logs -l k8s-app=kube-dns`. Does a name outside the cluster resolve on the node?\n\n## Mitigation\nRestart CoreDNS, or forward to another resolver.',
    alert: 'CoreDNS is returning SERVFAIL for 4% of requests.',
  },
  {
    title: 'RaidDegraded',
    content:
      '# RaidDegraded\n\n## Meaning\nA disk of a software RAID has failed; another failure loses the data.\n\n## Diagnosis\n`cat /proc/mdstat`, `mdadm --detail /dev/md0`, `smartctl -a`.\n\n## Mitigation\nReplace the disk and add it to the array: `mdadm --add`.',
    alert: "RAID array 'md0' at node-5 is in degraded state due to one or more disk failures.",
  },
  {
    title: 'OutOfMemoryKills',
    content:
      '# OutOfMemoryKills\n\n## Meaning\nThe kernel killed processes as memory ran out.\n\n## Diagnosis\n`dmesg | grep -i oom`. Was it the limit of a cgroup, or of the whole machine? Look for a leak: memory that only rises since the last release.\n\n## Mitigation\nRaise the limit of the container, or fix the leak.',
    alert: 'OOM killer invoked 3 times on node-9 within 10 minutes: process java was killed.',
  },
];
