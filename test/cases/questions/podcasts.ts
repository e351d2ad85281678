/** Questions about a podcast platform. Written before the grammar parsed them */
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const services = [
  'feed-crawler',
  'episode-api',
  'transcoder',
  'search',
  'recommendations',
  'user-accounts',
  'ad server',
];
const resource = [
  field('resource.host.name', ['edge-1', 'edge-2', 'core-7']),
  field('resource.service.version', ['2.8.0', '2.9.1']),
  field('resource.deployment.environment.name', ['prod', 'staging']),
  field('resource.k8s.pod.name', ['billing-7d9', 'billing-8fa'], 300),
];
export const podcasts = {
  logs: signal(services, [
    field('podcast', ['Serial', 'Radiolab'], 8000),
    field('episode.id', ['e1'], 90000),
    field('user.plan', ['free', 'premium']),
    field('region', ['us-east', 'eu-west', 'ap-south']),
    field('device', ['ios', 'android', 'web', 'car']),
    field('exception.type', ['FeedParseError', 'S3Timeout', 'AuthError']),
    field('file.size', [], 900, 'number'),
    field('codec', ['mp3', 'aac', 'opus']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/episodes/{id}', '/search', '/login', '/feeds']),
      field('http.request.method', ['GET', 'POST', 'DELETE']),
      field('http.response.status_code', ['200', '301', '401', '403', '404', '500', '503'], 7, 'number'),
      field('region', ['us-east', 'eu-west', 'ap-south']),
      field('device', ['ios', 'android', 'web', 'car']),
      field('db.system.name', ['mysql', 'elasticsearch']),
      field('queue.name', ['transcode-jobs']),
      field('user.plan', ['free', 'premium']),
      ...resource,
    ],
    ['fetch feed', 'transcode', 'GET /search'],
  ),
  metrics: [
    metric('http_requests_total', 'counter', '', { status: ['200', '500'], method: ['GET'] }),
    metric('episodes.published', 'counter', '{episode}', { codec: ['mp3', 'aac'] }),
    metric('streams.active', 'gauge', '{stream}', { region: ['us-east', 'eu-west'] }),
    metric('transcode.queue.depth', 'gauge', '{job}', {}),
    metric('transcode.duration', 'histogram', 's', { codec: ['mp3', 'aac', 'opus'] }),
    metric('cdn.bytes.sent', 'counter', 'By', { region: ['us-east', 'eu-west', 'ap-south'] }),
    metric('cache.hit.ratio', 'gauge', '1', { region: ['us-east', 'eu-west'] }),
    metric('node_memory_MemAvailable_bytes', 'gauge', 'By', { instance: ['a:9100'] }),
    metric('node_load1', 'gauge', '', { instance: ['a:9100'] }),
    metric('container_restarts_total', 'counter', '', { pod: ['x'] }),
  ],
};

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const podcastsQuestions: readonly QuestionCase[] = [
  ['how many episodes were published this week', 'metric episodes.published increase/sum 09T00:00..11T10:30'],
  ['error rate of episode-api by region', 'share traces [status:error] of [kind:server service:episode-api] by region'],
  ['which podcasts fail to parse most often', 'refused unknown-name'],
  [
    'how long does transcoding take for opus',
    ['metric transcode.duration avg/sum [codec:opus]', 'metric transcode.duration quantile 0.95/sum [codec:opus]'],
  ],
  ['p90 transcode time by codec yesterday', 'metric transcode.duration quantile 0.9/sum by codec 10T00:00..11T00:00'],
  ['queue depth of the transcoder', 'metric transcode.queue.depth avg/sum'],
  ['how many active streams in eu-west', 'metric streams.active avg/sum [region:eu-west]'],
  ['bytes sent by the CDN per region last month', 'metric cdn.bytes.sent increase/sum by region 01T00:00..01T00:00'],
  ['cache hit ratio in us-east', 'metric cache.hit.ratio avg/avg [region:us-east]'],
  [
    'logins that failed with 401 since midnight',
    'traces rows [http.response.status_code:401 http.route:"/login" kind:server] 11T00:00..11T10:30',
  ],
  ['top 10 users with failed logins', 'refused unknown-name'],
  ['requests per minute to /search', 'traces count [http.route:"/search" kind:server] each 1m'],
  ['slow searches', 'refused unclear'],
  [
    'search requests slower than 1s from android',
    [
      'traces rows [device:android duration:>1s kind:server service:search]',
      'traces rows [device:android duration:>1s kind:server]',
    ],
  ],
  ['how many premium users hit a 500', 'refused unknown-name'],
  ['404s on /episodes', 'traces rows [http.response.status_code:404 http.route:"/episodes/{id}" kind:server]'],
  ["what's broken", ['logs rows [severity:>=error]', 'traces rows [status:error]']],
  ['S3 timeouts in the transcoder over the last 6 hours by hour', 'refused unknown-name'],
  [
    'compare error rate of search this week with last week',
    'share traces [status:error] of [kind:server service:search] 09T00:00..11T10:30 than 02T00:00..09T00:00',
  ],
  ['which service has the highest p99', 'traces p99(duration) [kind:server] by service limit 10'],
  [
    'list the services with errors',
    ['logs count [severity:>=error] by service', 'traces count [kind:server status:error] by service'],
  ],
  ['average file size of uploads', 'refused unknown-name'],
  ['biggest files processed today', 'refused unknown-name'],
  ['what did ad server log at 3am', 'logs rows [service:"ad server"] 11T03:00..11T04:00'],
  [
    'errors of user-accounts between 22:00 and 23:30 yesterday',
    [
      'logs rows [service:user-accounts severity:>=error] 10T22:00..10T23:30',
      'traces rows [service:user-accounts status:error] 10T22:00..10T23:30',
    ],
  ],
  ['free memory on all nodes', 'metric node_memory_MemAvailable_bytes avg/sum'],
  ['load of the nodes', 'metric node_load1 avg/avg'],
  ['how many 500s did we serve', 'traces count [http.response.status_code:500 kind:server]'],
  [
    'http requests by status',
    ['metric http_requests_total increase/sum by status', 'traces count [kind:server] by status'],
  ],
  ['who calls recommendations', 'refused elsewhere'],
  ['what does episode-api depend on', 'refused elsewhere'],
  ['percent of requests from car devices', 'share traces [device:car] of [kind:server]'],
  ['number of DELETE requests by plan', 'traces count [http.request.method:DELETE kind:server] by user.plan'],
  ['distinct devices', ['logs distinct(device)', 'traces distinct(device)']],
  ['trace of the slowest login', 'traces max(duration) [http.route:"/login"] by service,name,traceId,spanId limit 10'],
  ['logs without a region', 'logs rows [NOT region:*]'],
  ['logs that mention certificate', 'logs rows ["certificate"]'],
  ['messages containing "connection reset" from feed-crawler', 'logs rows ["connection reset" service:feed-crawler]'],
  ['show errors except AuthError', 'logs rows [NOT exception.type:AuthError severity:>=error]'],
  ['how many requests did ios and android send', 'traces count [device:(ios OR android) kind:server]'],
  ['traffic by device as a chart', 'traces count [kind:server] by device each 30000'],
  ['restarts of containers in the last day', 'metric container_restarts_total increase/sum 10T10:30..11T10:30'],
  [
    'did search get slower since yesterday',
    [
      'traces avg(duration) [kind:server service:search] each 900000 10T00:00..11T10:30',
      'traces p95(duration) [kind:server service:search] each 900000 10T00:00..11T10:30',
    ],
  ],
  ['average response time of elasticsearch', 'traces avg(duration) [db.system.name:elasticsearch]'],
  ['how many feeds were crawled per hour today', 'refused unknown-name'],
  [
    'are there any errors in recommendations',
    ['logs rows [service:recommendations severity:>=error]', 'traces rows [service:recommendations status:error]'],
  ],
  [
    'first error in search today',
    [
      'logs rows [service:search severity:>=error] oldest 11T00:00..11T10:30',
      'traces rows [service:search status:error] oldest 11T00:00..11T10:30',
    ],
  ],
  [
    'which region is slowest',
    ['traces avg(duration) [region:*] by region limit 10', 'traces p95(duration) [region:*] by region limit 10'],
  ],
  ['most common error messages in transcoder', 'logs count [service:transcoder severity:>=error] by body limit 10'],
  ['how many unique episodes had errors', 'logs distinct(episode.id) [severity:>=error]'],
];
