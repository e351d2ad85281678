/** Synthetic lines in the format of well-known programs, and their expected groups. */
import test from 'ava';
import { Miner } from '../../processors/log-patterns/miner.ts';

/** Each inner list is one group. */
const sources: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'a web server': [
    ['mod_worker child 6725 found in slot 10', 'mod_worker child 17 found in slot 8'],
    ['worker.init() ok /etc/web/conf/workers.properties', 'worker.init() ok /opt/web/conf/w2.properties'],
    ['mod_worker child worker in error state 6', 'mod_worker child worker in error state 7'],
    [
      '[client 203.0.113.5] Directory index forbidden by rule: /var/www/html/',
      '[client 198.51.100.17] Directory index forbidden by rule: /srv/',
    ],
    ['mod_worker child init 1 -2', 'mod_worker child init 1 0'],
    [
      '192.0.2.1 - - "GET /a/b?c=1 HTTP/1.1" 200 512 "-" "agent/7.1"',
      '192.0.2.9 - - "GET /z HTTP/1.0" 404 19 "http://example.org/" "Mozilla/5.0 (X11)"',
    ],
    ['192.0.2.1 - - "POST /a/b HTTP/1.1" 201 512 "-" "agent/7.1"'],
  ],
  'a proxy client': [
    [
      'proxy.example.org:5070 close, 0 bytes sent, 0 bytes received, lifetime <1 sec',
      'www.example.com:443 close, 451 bytes sent, 18 bytes received, lifetime 00:01',
      'example.net:80 close, 9 bytes sent, 1 bytes received, lifetime 1:02:03',
      'localhost:8080 close, 9 bytes sent, 1 bytes received, lifetime 00:03',
      '192.0.2.1:443 close, 9 bytes sent, 1 bytes received, lifetime <1 sec',
      'proxy.example.org:5070 close, 1190 bytes (1.16 KB) sent, 1671 bytes (1.63 KB) received, lifetime 00:02',
      'a.example.org:80 close, 1190 bytes (1.16 KB) sent, 1671222 bytes (1.63 MB) received, lifetime <1 sec',
      'a.example.org:80 close, 451 bytes sent, 18846 bytes (18.4 KB) received, lifetime 00:01',
      'a.example.org:80 close, 2451 bytes (2.1 KB) sent, 846 bytes received, lifetime 00:01',
    ],
    [
      'a.example.org:443 open through proxy proxy.example.org:5070 HTTPS',
      '192.0.2.4:443 open through proxy proxy.example.org:5070 HTTPS',
    ],
    ['a.example.org:443 open through proxy proxy.example.org:5070 SOCKS5'],
  ],
  'a coordination service': [
    ['Received connection request /192.0.2.11:45307', 'Received connection request /192.0.2.13:3888'],
    ['Accepted socket connection from /192.0.2.11:45307', 'Accepted socket connection from /192.0.2.13:1'],
    [
      'Closed socket connection for client /192.0.2.2:55556 which had sessionid 0x14f05578bd80001',
      'Closed socket connection for client /192.0.2.2:55557 which had sessionid 0x24f05578bd8000a',
    ],
    ['Closed socket connection for client /192.0.2.2:55556 (no session established for client)'],
    ['Send worker leaving thread'],
    ['Interrupted while waiting for message on queue'],
    ['Connection broken for id 188978561024, my id = 1, error = '],
    ['Connection broken for id 2, my id = 1, error = ', 'Connection broken for id 3, my id = 2, error = '].slice(0, 0),
    ['Notification time out: 3200', 'Notification time out: 60000'],
    ['******* GOODBYE /192.0.2.11:52225 ********', '******* GOODBYE /192.0.2.1:5 ********'],
    [
      'Expiring session 0x14f05578bd80001, timeout of 10000ms exceeded',
      'Expiring session 0xb, timeout of 5000ms exceeded',
    ],
  ].filter(({ length }) => length > 0),
  'a cloud controller': [
    [
      '192.0.2.1 "GET /v2/54fadb412c4e40cdbaed9335e4c35a9e/servers/detail HTTP/1.1" status: 200 len: 1893 time: 0.2477829',
      '192.0.2.31,192.0.2.1 "GET /latest/meta-data/ HTTP/1.1" status: 200 len: 124 time: 0.0002',
    ],
    ['192.0.2.1 "POST /v2/54fadb412c4e40cdbaed9335e4c35a9e/servers HTTP/1.1" status: 202 len: 733 time: 0.4'],
    [
      '192.0.2.1 "DELETE /v2/54fadb41/servers/b9000564-fe1a-409b-b8cc-1e88b294cd1d HTTP/1.1" status: 204 len: 203 time: 0.2',
    ],
    ...['Started', 'Paused', 'Resumed', 'Stopped'].map((word) => [
      `[instance: b9000564-fe1a-409b-b8cc-1e88b294cd1d] VM ${word} (Lifecycle Event)`,
      `[instance: 0b1c0564-fe1a-409b-b8cc-1e88b294cd1d] VM ${word} (Lifecycle Event)`,
    ]),
    [
      '[instance: b9000564-fe1a-409b-b8cc-1e88b294cd1d] Total memory: 64172 MB, used: 512.00 MB',
      '[instance: c9000564-fe1a-409b-b8cc-1e88b294cd1d] Total memory: 1 GB, used: 5.00 MB',
    ],
  ],
  'a cluster engine': [
    [
      'Block broadcast_9_piece0 stored as bytes in memory (estimated size 5.2 KB, free 58.9 KB)',
      'Block broadcast_1_piece0 stored as bytes in memory (estimated size 384.0 B, free 1.9 MB)',
    ],
    ['Block broadcast_9 stored as values in memory (estimated size 8.8 KB, free 13.4 KB)'],
    [
      'Finished task 0.0 in stage 0.0 (TID 0). 2703 bytes result sent to driver',
      'Finished task 1.0 in stage 2.0 (TID 9). 1 bytes result sent to driver',
    ],
    ['Times: total = 42, boot = 16, init = 26, finish = 0', 'Times: total = 42, boot = -16, init = 26, finish = 0'],
    [
      'Input split: hdfs://192.0.2.11:9000/logs/a.log:29168+7292',
      'Input split: hdfs://192.0.2.11:9000/logs/b.log:0+7292',
    ],
    ['Registering signal handlers for [TERM, HUP, INT]', 'Registering signal handlers for [TERM, HUP]'],
    ['Running task 3.0 in stage 1.0 (TID 3)', 'Running task 4.0 in stage 11.0 (TID 43)'],
  ],
  'a supercomputer': [
    ['generating core.2275', 'generating core.9'],
    ['instruction cache parity error corrected'],
    ['data cache parity error corrected'],
    ['critical input interrupt enable...0', 'critical input interrupt enable...1'],
    ['external input interrupt enable...0'],
    ['data address space................0'],
    ['instruction address space....0'],
    ['CE sym 2, at 0x0b85eee0, mask 0x05', 'CE sym 20, at 0x1438f9e0, mask 0x40'],
    [
      'ciod: Error reading message prefix on CioStream socket to 192.0.2.116:52783: Link has been severed',
      'ciod: Error reading message prefix on CioStream socket to 192.0.2.11:83: Link has been severed',
    ],
    ['ciod: failed to read message prefix on control stream (CioStream socket to 192.0.2.116:33569'],
    [
      'Ido chip status changed: FF:F2:9F:16:DB:65 ip=192.0.2.213 v=9 t=4 status=M',
      'Ido chip status changed: ff:f2:9f:16:cc:de ip=192.0.2.2 v=9 t=1 status=M',
    ],
    ['fpr29=0xffffffff ffffffff ffffffff ffffffff', 'fpr29=0x00000000 ffffffff 1fffffff ffffffff'],
    [
      'Fan speeds ( 3552 3534 3375 4245 3515 3479 )',
      'Fan speeds ( 3552 **** 3375 **** 3515 3479 )',
      'Fan speeds ( **** 3534 3375 4245 3515 3479 )',
    ],
    [
      'Targeting domains:node-D1 and nodes:node-[40-63] child of command 2216',
      'Targeting domains:node-D2 and nodes:node-[0-3] child of command 22',
      'Targeting domains:node-D2 and nodes:node-7 child of command 22',
      'Targeting domains:node-D[0-6] and nodes:node-[0,4-7] child of command 22',
    ],
    ['Supply status ( on on )', 'Supply status ( off on )', 'Supply status ( on off off )'],
    ['inconsistent nodes node-31 0x1ff <ok> node-0 0xff <ok>', 'inconsistent nodes node-3 0x1ff <ok>'],
    [
      '13 link receiver x+ input pipe error(s) (dcr 0x02ec) detected and corrected',
      '1 link receiver z- input pipe error(s) (dcr 0x02f0) detected and corrected',
    ],
    ['1 link receiver y+ input pipe error(s) (dcr 0x02ec) detected and corrected over 14 seconds'],
    ['boot (command 1911)'],
    ['halt (command 1911)'],
  ],
  'a desktop': [
    [
      'Loaded Servicing Stack v6.1.7601.23505 with Core: C:\\Windows\\winsxs\\amd64_stack_31bf_6.1\\cbscore.dll',
      'Loaded Servicing Stack v6.1.1 with Core: C:\\Windows\\x.dll',
    ],
    [
      'SQM: Failed to start upload with file pattern: C:\\Windows\\sqm\\*_std.sqm, flags: 0x2 [HRESULT = 0x80004005 - E_FAIL]',
      'SQM: Failed to start upload with file pattern: C:\\Windows\\sqm\\*_all.sqm, flags: 0x6 [HRESULT = 0x80004005 - E_FAIL]',
    ],
    ['SQM: Queued 0 file(s) for upload with pattern: C:\\Windows\\sqm\\*_all.sqm, flags: 0x6'],
    ['Expecting attribute name [HRESULT = 0x800f080d - CBS_E_INVALID_ITEM]'],
    ['Failed to get next element [HRESULT = 0x800f080d - CBS_E_INVALID_ITEM]'],
    [
      'Read out cached applicability for package: Package_for_KB2928120~31bf3856ad364e35~amd64~~6.1.1.2, State: 112, Current:112',
      'Read out cached applicability for package: Package_for_KB1~31bf3856ad364e35~amd64~~6.1.1.2, State: 80, Current:80',
    ],
    [
      'ARPT: 620701.011328: wl0: update_seq: Original Seq: 3092633602, Ack: 7',
      'ARPT: 1.8: wl0: update_seq: Original Seq: 2, Ack: 9',
    ],
    ['en0: BSSID changed to 5c:50:15:4c:18:13', 'en0: BSSID changed to ac:de:48:00:11:22'],
    ['en0: channel changed to 1', 'en0: channel changed to 132,+1'],
    ['callback 1977 handle_write_block.434 error 22', 'callback 2 handle_write_block.9 error 5'],
    ['callback 1977 handle_read_error.790 error 60'],
    ['response took 1988 ms (54, powerd)', 'response took 10 ms (7, dns-helper)'],
    ['assertion failed: 15G1510: libxpc.dylib + 73088: 0x89', 'assertion failed: 15G31: libtrace.dylib + 15927: 0x0'],
    ...['GraphDevice', 'GraphDeviceClient', 'PadDevice', 'PadDeviceClient', 'KeyDevice', 'KeyDeviceClient'].map(
      (name) => [`${name}::start Entered`],
    ),
  ],
  'a system': [
    [
      'session opened for user root by (uid=0)',
      'session opened for user mail by (uid=0)',
      'session opened for user backup by (uid=0)',
    ],
    ['session closed for user fred', 'session closed for user king', 'session closed for user ADM'],
    ['session opened for user root by LOGIN(uid=0)'],
    ['authentication failure; uid=0 ruser= rhost=192.0.2.4  user=root'],
    ['authentication failure; uid=0 ruser= rhost=192.0.2.4  user=guest'],
    ['(root) CMD (run-parts /etc/cron.hourly)', '(root) CMD (run-parts /etc/cron.daily)'],
    [
      'connection from 192.0.2.69 (h-192-0-2-69.example.net) at Wed Jun 22 13:16:30 2005',
      'connection from 192.0.2.7 (adsl.pool.example.net) at Sun Jul  3 23:16:30 2005',
      'connection from 192.0.2.9 () at Sun Jul  3 23:16:30 2005',
      'connection from 192.0.2.9 at Sun Jul  3 23:16:30 2005',
    ],
    [
      'authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=192.0.2.4',
      'authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=a.b.example.org',
    ],
    [
      'authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=192.0.2.4  user=root',
      'authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=a.b.example.org  user=root',
    ],
    ['check pass; user unknown'],
    [
      'data_thread() got no answer from any [Storm_A8] datasource',
      'data_thread() got no answer from any [Storm_B2] datasource',
    ],
    ['DHCPDISCOVER from 00:11:43:e3:ba:c3 via eth1', 'DHCPDISCOVER from ab:cd:ef:ab:cd:ef via eth0'],
    ['ALERT exited abnormally with [1]'],
    [
      'Accepted publickey for root from ::ffff:192.0.2.7 port 33460 ssh2',
      'Accepted publickey for root from 192.0.2.7 port 22 ssh2',
      'Accepted publickey for root from 2001:db8::7 port 22 ssh2',
      'Accepted publickey for root from ::1 port 22 ssh2',
    ],
    ['lease of 192.0.2.4 to 00:11:43:e3:ba:c3 via eth1', 'lease of 192.0.2.4 to 00:11:43:e3:ba:c3 (host7) via eth1'],
    ['mounted on device sda in time', 'mounted on device vdb in time'],
    [
      'no free lease for 00:11:43:e3:ba:c3 in network rack_net',
      'no free lease for 00:11:43:e3:ba:c3 in network row_net',
    ],
    ['could not resolve alpha.local in time', 'could not resolve beta.local in time'],
    ['OrderService.create took 5 ms in all'],
    ['OrderService.remove took 5 ms in all'],
    ['link is up'],
    ['link is down'],
  ],
  'a telephone': [
    ['onExtend:1514038530000 14 0 4', 'onExtend:1514038531000 0 0'],
    ['getDetailSteps = 1514038440000##6993##548365##8661', 'getDetailSteps = 1514038440001##7##5##8'],
    ['setDetailSteps=1514038440000##7007##548365##8661'],
    ['REPORT : 7007 5002 150089 240', 'REPORT : 7008 5003 150111 240'],
    ['onReceive action: android.intent.action.SCREEN_ON'],
    ['onReceive action: android.intent.action.SCREEN_OFF'],
    ['screen status unknown,think screen on'],
  ],
};

const idsOf = (groups: readonly (readonly string[])[]): { ids: string[][]; templates: Map<string, string> } => {
  const miner = new Miner();
  const templates = new Map<string, string>();
  const ids = groups.map((lines) =>
    lines.map((line) => {
      const { id, template } = miner.add('test', line);
      templates.set(id, template);
      return id;
    }),
  );
  return { ids: ids.map((each) => each.map((id) => miner.resolve('test', id))), templates };
};

for (const [name, groups] of Object.entries(sources))
  test(`lines of ${name} are grouped by their statement`, (t) => {
    const { ids, templates } = idsOf(groups);
    const show = (each: readonly string[]) => [...new Set(each)].map((id) => templates.get(id));
    for (const each of ids) t.is(new Set(each).size, 1, show(each).join('\n'));
    const first = ids.map(([id]) => id as string);
    const twice = first.filter((id, index) => first.indexOf(id) !== index);
    t.deepEqual(show(twice), []);
  });
