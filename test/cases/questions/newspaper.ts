/** Questions about the site of a newspaper. Held out, and evaluated once. */
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const services = ['front-page', 'articles', 'paywall', 'comments', 'ad-server', 'newsletter'];
const resource = [
  field('resource.host.name', ['news-1', 'news-2', 'news-3']),
  field('resource.service.version', ['12.1', '12.2']),
  field('resource.k8s.namespace.name', ['live', 'preview']),
];
const sections = ['politics', 'sports', 'culture'];

export const newspaper = {
  logs: signal(services, [
    field('section', sections),
    field('article.id', ['a-9001', 'a-9002'], 40_000),
    field('reader.id', ['r-1', 'r-2'], 500_000),
    field('plan', ['trial', 'monthly', 'yearly']),
    field('comment.verdict', ['approved', 'flagged', 'removed']),
    field('word.count', [], 3_000, 'number'),
    field('exception.type', ['TemplateMissing', 'ImageTooLarge']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/', '/article/{id}', '/subscribe']),
      field('http.request.method', ['GET', 'POST']),
      field('http.response.status_code', ['200', '301', '404', '429', '500'], 5, 'number'),
      field('db.system.name', ['redis', 'elasticsearch']),
      field('device', ['phone', 'tablet', 'desktop']),
      field('section', sections),
      field('ads.shown', [], 20, 'number'),
      ...resource,
    ],
    ['render article', 'check subscription'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/', '/subscribe'] }),
    metric('system.cpu.utilization', 'gauge', '1', { 'resource.host.name': ['news-1', 'news-2', 'news-3'] }),
    metric('system.memory.utilization', 'gauge', '1', { 'resource.host.name': ['news-1', 'news-2', 'news-3'] }),
    metric('page.views', 'counter', '{view}', { section: sections }),
    metric('subscriptions.sold', 'counter', '{subscription}', { plan: ['trial', 'monthly', 'yearly'] }),
    metric('readers.online', 'gauge', '{reader}', {}),
    metric('cache.hit_ratio', 'gauge', '1', { 'resource.host.name': ['news-1', 'news-2', 'news-3'] }),
    metric('newsletter.bounced', 'counter', '{mail}', {}),
  ],
};

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const newspaperQuestions: readonly QuestionCase[] = [
  ['page views today by section', 'metric page.views increase/sum by section 11T00:00..11T10:30'],
  ['how many subscriptions did we sell yesterday', 'metric subscriptions.sold increase/sum 10T00:00..11T00:00'],
  ['how many readers are online right now', 'metric readers.online last/sum'],
  ['cache hit ratio per host', 'metric cache.hit_ratio avg/avg by host.name'],
  ['most readers online this week', 'metric readers.online max/max 09T00:00..11T10:30'],
  ['newsletter mails that bounced last week', 'refused unknown-name'],
  [
    'errors in paywall over the last 6 hours',
    [
      'logs rows [service:paywall severity:>=error] 11T04:30..11T10:30',
      'traces rows [service:paywall status:error] 11T04:30..11T10:30',
    ],
  ],
  ['error logs of comments grouped by section', 'logs count [service:comments severity:>=error] by section'],
  [
    'flagged comments by section',
    [
      'logs count [comment.verdict:flagged service:comments] by section',
      'logs count [comment.verdict:flagged] by section',
    ],
  ],
  [
    'how many comments were removed on Monday',
    [
      'logs count [comment.verdict:removed service:comments] 09T00:00..10T00:00',
      'logs count [comment.verdict:removed] 09T00:00..10T00:00',
    ],
  ],
  ['p99 latency of front-page from phones', 'traces p99(duration) [device:phone kind:server service:front-page]'],
  ['average response time by device since 8am', 'traces avg(duration) [kind:server] by device 11T08:00..11T10:30'],
  [
    'requests to /subscribe that took longer than 2 seconds',
    'traces rows [duration:>2s http.route:"/subscribe" kind:server]',
  ],
  [
    'share of 429 responses for articles',
    'share traces [http.response.status_code:429] of [kind:server service:articles]',
  ],
  ['traffic per section every 10 minutes', 'traces count [kind:server] by section each 10m'],
  ['median time of render article', 'traces p50(duration) [name:"render article"]'],
  ['slow elasticsearch queries', 'refused unclear'],
  [
    'elasticsearch queries over 300 ms from articles',
    'traces rows [db.system.name:elasticsearch duration:>300ms service:articles]',
  ],
  [
    'which sections have the most errors',
    [
      'logs count [section:* severity:>=error] by section limit 10',
      'traces count [kind:server section:* status:error] by section limit 10',
    ],
  ],
  ['TemplateMissing exceptions per host', 'logs count [exception.type:TemplateMissing] by host.name'],
  ['logs for article a-9001', 'logs rows [article.id:a-9001]'],
  ['number of distinct readers with errors today', 'logs distinct(reader.id) [severity:>=error] 11T00:00..11T10:30'],
  [
    'average word count of politics articles',
    ['logs avg(word.count) [section:politics service:articles]', 'logs avg(word.count) [section:politics]'],
  ],
  ['is the paywall down', 'refused unknown-name'],
  ['which readers cancelled', 'refused unknown-name'],
  ['how long until memory of news-2 is full', 'refused forecast'],
  ['why is the front-page so slow', 'cause front-page'],
  ['ad-server without ads shown', 'traces rows [NOT ads.shown:* service:ad-server]'],
  ['publish the sports section', 'refused unknown-name'],
  [
    'warnings in live but not from newsletter',
    'logs rows [NOT service:newsletter k8s.namespace.name:live severity:warn]',
  ],
];
