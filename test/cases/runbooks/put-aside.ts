/**
 * Runbooks that were held out during the development of the search. They are searched among those used for tuning, and
 * the handbook.
 */
import type { Written } from './grown-with.ts';

export const putAside: readonly Written[] = [
  {
    title: 'TargetsDown',
    content:
      '# TargetsDown\n\n## What it means\nPrometheus cannot scrape some of the endpoints that it discovered.\n\n## What to do\nOpen the page of targets and read the error. A refused connection is a process that is down; a deadline is an overloaded exporter; 403 is a missing role.\nNetwork policies that were just changed are a usual cause.',
    alert: '33.3% of the exporter/shop targets in namespace shop are down.',
  },
  {
    title: 'WatchdogMissing',
    content:
      "# WatchdogMissing\n\n## What it means\nThe alert that always fires has stopped arriving at the dead man's switch: the whole chain of alerting may be broken.\n\n## What to do\nIs Alertmanager up, and can it reach the receiver? Send a test notification. Until it is repaired, somebody has to look at the dashboards.",
    alert:
      "This is an alert meant to ensure that the entire alerting pipeline is functional; the dead man's switch has not heard from it.",
  },
  {
    title: 'RuleEvaluationFails',
    content:
      '# RuleEvaluationFails\n\n## What it means\nA rule group gives an error, so that its alerts do not fire.\n\n## What to do\nThe log of the server names the rule. Many-to-many matching is the usual fault after a relabelling: add `group_left` or aggregate first.',
    alert: 'Prometheus monitoring/k8s has failed to evaluate 12 rules in the last 5m.',
  },
  {
    title: 'PersistentVolumeFilling',
    content:
      '# PersistentVolumeFilling\n\n## What it means\nThe volume behind a claim has little room.\n\n## What to do\nExpand the claim if its storage class allows it: `kubectl edit pvc`. Databases: delete old partitions, run vacuum.\n',
    alert: 'The PersistentVolume claimed by data-db-0 in Namespace shop is only 2.1% free.',
  },
  {
    title: 'StatefulSetUpdateStuck',
    content:
      '# StatefulSetUpdateStuck\n\n## What it means\nA rolling update of a stateful set does not go on: one replica does not become ready.\n\n## What to do\nLook at the pod with the highest ordinal. A broken image must be rolled back, and the pod deleted by hand, as the controller waits for it for ever.',
    alert: 'StatefulSet shop/search update has not been rolled out.',
  },
  {
    title: 'DaemonSetMisscheduled',
    content:
      '# DaemonSetMisscheduled\n\n## What it means\nPods of a daemon set run on nodes where they should not.\n\n## What to do\nCompare taints and tolerations and the node selector. Labels of nodes that changed leave pods behind: delete them.',
    alert: '3 Pods of DaemonSet kube-system/log-agent are running where they are not supposed to run.',
  },
  {
    title: 'CpuThrottling',
    content:
      '# CpuThrottling\n\n## What it means\nThe CFS quota stops a container for part of each period as it reached its CPU limit.\n\n## What to do\nRaise or remove the limit; look for threads that spin. Latency at high percentiles is the usual symptom.',
    alert: '41.2% throttling of CPU in namespace shop for container api in pod api-5c4.',
  },
  {
    title: 'QuotaAlmostFull',
    content:
      '# QuotaAlmostFull\n\n## What it means\nA namespace has nearly used up what its resource quota grants.\n\n## What to do\nFind requests that are much larger than the use, and lower them; else ask the platform team for more.',
    alert: 'Namespace shop is using 96% of its requests.cpu quota.',
  },
  {
    title: 'NetworkInterfaceFlapping',
    content:
      '# NetworkInterfaceFlapping\n\n## What it means\nA link goes up and down often.\n\n## What to do\nChange the cable or the transceiver, look at the counters of the switch port. A bond hides it until the second link fails too.',
    alert: 'Network interface "eth0" changing its up status often on node-exporter node-4.',
  },
  {
    title: 'ConntrackFull',
    content:
      '# ConntrackFull\n\n## What it means\nThe table in which the kernel tracks connections is close to its size; then new connections are dropped.\n\n## What to do\n`sysctl net.netfilter.nf_conntrack_max` larger; find who opens so many: `conntrack -L | sort`.',
    alert: '82% of conntrack entries are used.',
  },
  {
    title: 'FileDescriptorsExhausted',
    content:
      '# FileDescriptorsExhausted\n\n## What it means\nA process or the host has as many open files and sockets as it may.\n\n## What to do\n`ls /proc/PID/fd | wc -l`. Sockets in CLOSE_WAIT are a leak of the program. Raise `LimitNOFILE` until it is fixed.',
    alert: 'File descriptors limit at node-6 is currently at 93%.',
  },
  {
    title: 'SystemdUnitFailed',
    content:
      '# SystemdUnitFailed\n\n## What it means\nA unit of systemd ended with an error and is not started again.\n\n## What to do\n`systemctl --failed`, `journalctl -u UNIT`. After the repair `systemctl reset-failed`.',
    alert: 'systemd service backup.service has entered failed state at node-1.',
  },
  {
    title: 'MySqlSlaveStopped',
    content:
      '# MySqlSlaveStopped\n\n## What it means\nThe SQL thread of a replica has stopped at a statement that it cannot apply.\n\n## What to do\n`SHOW REPLICA STATUS`. A duplicate key: skip the event once if the row is the same. Otherwise clone the replica anew.',
    alert: 'MySQL replication on db-7 is not running: the SQL thread stopped with error 1062 duplicate entry.',
  },
  {
    title: 'ElasticsearchRed',
    content:
      '# ElasticsearchRed\n\n## What it means\nAt least one primary shard is not assigned; searches miss documents.\n\n## What to do\n`GET _cluster/allocation/explain`. A disk above the flood stage watermark stops allocation: free it, then `reroute?retry_failed`.',
    alert: 'Cluster logs-prod health status has been RED for at least 2m. Some primary shards are unassigned.',
  },
  {
    title: 'RabbitMqMemoryAlarm',
    content:
      '# RabbitMqMemoryAlarm\n\n## What it means\nThe broker has passed its memory watermark and blocks all publishers.\n\n## What to do\nWhich queue is long, and does anybody consume from it? Purge what nobody needs. Lazy queues keep messages on disk.',
    alert: 'RabbitMQ node rabbit@mq-1 raised a memory resource alarm; publishing connections are blocked.',
  },
  {
    title: 'BackupTooOld',
    content:
      '# BackupTooOld\n\n## What it means\nThe last good copy of the database is older than a day.\n\n## What to do\nLook at the job that copies to the bucket: credentials that expired and a full bucket are what it was before. Start it by hand, and restore it once to see that it is whole.',
    alert: 'No successful database backup for 31 hours.',
  },
  {
    title: 'LoginFailuresSpike',
    content:
      '# LoginFailuresSpike\n\n## What it means\nMany sign-ins are refused: somebody tries passwords, or our identity provider has a fault.\n\n## What to do\nGroup failures by address. Few addresses: block them at the edge. All users: look at the certificate of the SAML provider.',
    alert: 'Failed sign-ins rose to 900 per minute from 14 addresses.',
  },
  {
    title: 'PaymentProviderErrors',
    content:
      '# PaymentProviderErrors\n\n## What it means\nCharges at the card processor fail.\n\n## What to do\nDeclined cards are the customers’, 5xx are theirs: call their hotline. Do not retry charges without an idempotency key.',
    alert: 'Card charges failing with 502 from the processor: 12% of attempts in the last 15 minutes.',
  },
  {
    title: 'CdnHitRatioLow',
    content:
      '# CdnHitRatioLow\n\n## What it means\nThe edge asks the origin for much more than usual.\n\n## What to do\nDid a release change `Cache-Control` or add a query string to assets? Purges of everything do it for an hour.',
    alert: 'CDN cache hit ratio fell to 41%, origin traffic tripled.',
  },
  {
    title: 'ThreadPoolExhausted',
    content:
      '# ThreadPoolExhausted\n\n## What it means\nAll worker threads of a JVM wait, so that requests queue.\n\n## What to do\nTake a thread dump: `jcmd PID Thread.print`. Most wait in one call: give it a timeout and its own pool.',
    alert: 'Tomcat on orders-3 has 200 of 200 threads busy and 350 requests waiting.',
  },
];
