/** A studio with online games. The questions were written before the grammar parsed any of them. */
import { field, metric, nowMs, type QuestionCase, signal } from './question-case.ts';

const services = ['matchmaking', 'lobby', 'player-profile', 'inventory', 'store-front', 'chat-relay', 'anti-cheat'];
const hosts = ['gs-01', 'gs-02', 'gs-03'];
const regions = ['europe', 'america', 'asia'];
const platforms = ['pc', 'console', 'mobile'];
const modes = ['duel', 'squad', 'ranked'];
const resource = [
  field('resource.host.name', hosts),
  field('resource.service.version', ['5.4.0', '5.4.1']),
  field('resource.k8s.namespace.name', ['live', 'beta']),
];

export const games = {
  logs: signal(services, [
    field('region', regions),
    field('platform', platforms),
    field('player.id', ['pl-1', 'pl-2'], 200_000),
    field('match.id', ['m-1'], 90_000),
    field('match.outcome', ['won', 'lost', 'abandoned']),
    field('ban.reason', ['aimbot', 'spam', 'fraud']),
    field('ping.ms', [], 800, 'number'),
    field('exception.type', ['LobbyFull', 'DesyncError', 'TokenExpired']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/matches', '/matches/{id}', '/login', '/purchases', '/friends']),
      field('http.request.method', ['GET', 'POST', 'DELETE']),
      field('http.response.status_code', ['200', '201', '401', '403', '429', '500', '504'], 7, 'number'),
      field('db.system.name', ['mongodb', 'redis']),
      field('messaging.system', ['rabbitmq']),
      field('platform', platforms),
      field('region', regions),
      field('client.version', ['3.1', '3.2']),
      field('item.price', [], 90, 'number'),
      ...resource,
    ],
    ['find match', 'load inventory', 'verify client'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/matches', '/login'] }),
    metric('players.online', 'gauge', '{player}', { platform: platforms, region: regions }),
    metric('matches.started', 'counter', '{match}', { 'game.mode': modes }),
    metric('matchmaking.wait.time', 'histogram', 's', { 'game.mode': modes }),
    metric('store.revenue', 'counter', 'USD', { platform: platforms }),
    metric('client.crashes', 'counter', '{crash}', { platform: platforms, 'client.version': ['3.1', '3.2'] }),
    metric('server.tick.rate', 'gauge', 'Hz', { 'host.name': hosts }),
    metric('packet.loss', 'gauge', '1', { region: regions }),
    metric('gpu.temperature', 'gauge', 'Cel', { 'host.name': hosts }),
    metric('system.cpu.utilization', 'gauge', '1', { 'host.name': hosts }),
    metric('system.memory.utilization', 'gauge', '1', { 'host.name': hosts }),
    metric('system.filesystem.usage', 'gauge', 'By', { 'host.name': hosts, state: ['used', 'free'] }),
    metric('chat.messages', 'counter', '{message}', { region: regions }),
    metric('rabbitmq.queue.messages', 'gauge', '{message}', { queue: ['rewards', 'mails'] }),
  ],
  deployments: [
    { service: 'matchmaking', version: '5.4.1', atMs: nowMs - 30 * 60_000 * 60 },
    { service: 'lobby', version: '5.4.1', atMs: nowMs - 90 * 60_000 },
  ],
};

const meanAndP95 = (rest: string) => [`traces avg(duration) ${rest}`, `traces p95(duration) ${rest}`];

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const gamesQuestions: readonly QuestionCase[] = [
  ['how many players are online right now', 'metric players.online last/sum'],
  ['online players by platform', 'metric players.online avg/sum by platform'],
  ['what was the highest number of players online yesterday', 'metric players.online max/max 10T00:00..11T00:00'],
  [
    'how many ranked matches were started last night',
    'metric matches.started increase/sum [game.mode:ranked] 10T18:00..11T06:00',
  ],
  [
    'matches started per hour by game mode since Monday',
    'metric matches.started increase/sum by game.mode each 1h 09T00:00..11T10:30',
  ],
  ['which game mode is the most popular today', 'refused unknown-name'],
  [
    'how much revenue did the store make on mobile this month',
    'metric store.revenue increase/sum [platform:mobile] 01T00:00..11T10:30',
  ],
  [
    'revenue this week versus last week',
    'metric store.revenue increase/sum 09T00:00..11T10:30 than 02T00:00..09T00:00',
  ],
  ['crashes by client version', 'metric client.crashes increase/sum by client.version'],
  [
    'how many times did the client crash on console today',
    'metric client.crashes increase/sum [platform:console] 11T00:00..11T10:30',
  ],
  [
    'does version 3.2 crash more than 3.1',
    'metric client.crashes increase/sum [client.version:(3.2 OR 3.1)] by client.version',
  ],
  ['how long do squad players wait for a match', 'refused unknown-name'],
  ['p90 matchmaking wait time by game mode', 'metric matchmaking.wait.time quantile 0.9/sum by game.mode'],
  ['servers with a tick rate below 30', 'metric server.tick.rate avg/avg by host.name having <30'],
  ['how many hosts have a tick rate under 30 Hz', 'metric server.tick.rate avg/avg by host.name having <30'],
  ['packet loss in asia over the last 6 hours', 'metric packet.loss avg/avg [region:asia] 11T04:30..11T10:30'],
  ['regions with packet loss above 2%', 'metric packet.loss avg/avg by region having >0.02'],
  ['which gpu is the hottest', 'metric gpu.temperature max/max by host.name'],
  ['GPU temperature of gs-02 every 5 minutes', 'metric gpu.temperature avg/avg [host.name:gs-02] each 5m'],
  ['hosts using more than 90% of memory', 'metric system.memory.utilization avg/avg by host.name having >0.9'],
  ['busiest hosts by cpu', 'metric system.cpu.utilization avg/avg by host.name limit 10'],
  ['free disk space on gs-03', 'metric system.filesystem.usage avg/sum [host.name:gs-03 state:free]'],
  ['how many messages are waiting in the rewards queue', 'metric rabbitmq.queue.messages avg/sum [queue:rewards]'],
  ['queues holding more than 1000 messages', 'metric rabbitmq.queue.messages avg/sum by queue having >1000'],
  ['chat messages per second in europe', 'metric chat.messages rate/sum [region:europe]'],
  [
    'errors in the lobby since the deployment',
    [
      'logs rows [service:lobby severity:>=error] 11T09:00..11T10:30',
      'traces rows [service:lobby status:error] 11T09:00..11T10:30',
    ],
  ],
  [
    'error rate of the lobby after the release compared to before',
    'share traces [status:error] of [kind:server service:lobby] 11T09:00..11T10:30 than 11T07:30..11T09:00',
  ],
  ['why is the player profile slow today', 'cause player-profile 11T00:00..11T10:30'],
  ['why has matchmaking been failing since 9', 'cause matchmaking 11T09:00..11T10:30'],
  ["what's wrong with the store front", 'cause store-front'],
  ['what changed in anti cheat today', 'changes anti-cheat 11T00:00..11T10:30'],
  ['failed logins by platform', 'traces count [http.route:"/login" kind:server status:error] by platform'],
  [
    'how many logins were rejected with 401 in the past hour',
    'traces count [http.response.status_code:401 http.route:"/login" kind:server]',
  ],
  ['players with more than 50 failed logins', 'refused unknown-name'],
  ['abandoned matches by region this week', 'logs count [match.outcome:abandoned] by region 09T00:00..11T10:30'],
  ['what percentage of matches is abandoned', 'share logs [match.outcome:abandoned] of [match.outcome:*]'],
  [
    'players who abandoned more than 5 matches today',
    [
      'logs count [match.outcome:abandoned player.id:*] by player.id having >5 11T00:00..11T10:30',
      'logs distinct(match.id) [match.outcome:abandoned player.id:*] by player.id having >5 11T00:00..11T10:30',
    ],
  ],
  ['how many players were banned for fraud', 'logs distinct(player.id) [ban.reason:fraud]'],
  ['bans by reason in the last 30 days', 'logs count [ban.reason:*] by ban.reason 09T10:30..11T10:30'],
  ['top 10 players by DesyncError', 'logs count [exception.type:DesyncError player.id:*] by player.id limit 10'],
  ['how many players saw a DesyncError', 'logs distinct(player.id) [exception.type:DesyncError]'],
  ['average ping per region', 'logs avg(ping.ms) by region'],
  ['regions with an average ping above 120', 'logs avg(ping.ms) [region:*] by region having >120'],
  ['which region has the most matches with a ping over 200', 'refused unclear'],
  ['expired tokens in the last 15 minutes', 'logs rows [exception.type:TokenExpired] 11T10:15..11T10:30'],
  ['how many lobbies were full today', 'logs count [exception.type:LobbyFull] 11T00:00..11T10:30'],
  [
    'slowest mongo queries of inventory',
    'traces max(duration) [db.system.name:mongodb service:inventory] by service,name,traceId,spanId limit 10',
  ],
  ['how long does find match take in asia', meanAndP95('[name:"find match" region:asia]')],
  [
    'p99 of POST /purchases by region',
    'traces p99(duration) [http.request.method:POST http.route:"/purchases" kind:server] by region',
  ],
  ['purchases over 50 dollars', 'refused unknown-name'],
  ['most expensive item price by platform', 'traces max(item.price) by platform'],
  ['routes that return more than 100 429s per hour', 'refused unclear'],
  [
    'routes with more than 100 responses with status 429',
    'traces count [http.response.status_code:429 http.route:* kind:server] by http.route having >100',
  ],
  ['is chat relay slower than usual', 'refused unclear'],
  ['ban player pl-1', 'refused unknown-name'],
  ['requsts per minute of machmaking', 'traces count [kind:server service:matchmaking] each 1m'],
  [
    'inventroy errors by version',
    [
      'logs count [service:inventory severity:>=error] by service.version',
      'traces count [kind:server service:inventory status:error] by service.version',
    ],
  ],
  ['same for mobile', 'metric players.online avg/sum [platform:mobile]', ['players online']],
  [
    'what about the lobby',
    'traces p95(duration) [kind:server service:lobby] 11T00:00..11T10:30',
    ['p95 latency of matchmaking today'],
  ],
  ['show it per hour', 'metric client.crashes increase/sum each 1h 11T00:00..11T10:30', ['crashes today']],
];
