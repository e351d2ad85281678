/** Runbooks: how documents are split, found and cited. */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import { extractQueries } from '../../../subjects/runbooks/named-queries.ts';
import {
  type FoundPassage,
  PassageIndex,
  type PassageSource,
  type Source,
  sources,
} from '../../../subjects/runbooks/passage-index.ts';
import { type Format, readDocument } from '../../../subjects/runbooks/passages.ts';
import { selectBestSentences, splitSentences } from '../../../subjects/runbooks/sentences.ts';
import { splitSearchWords, toStems } from '../../../subjects/runbooks/words.ts';
import { foundFor } from './found.ts';
import { grownWith } from './grown-with.ts';
import { putAside } from './put-aside.ts';
import { brewery, broadcaster } from './trades.ts';

const words: readonly (readonly [text: string, words: readonly string[]])[] = [
  ['KubePodCrashLooping', ['kube', 'pod', 'crash', 'looping', 'kubepodcrashlooping']],
  ['HTTPServerError 5xx', ['http', 'server', 'error', 'httpservererror', '5xx']],
  ['node_filesystem_avail_bytes', ['node', 'filesystem', 'avail', 'bytes']],
  ['The pod is in the queue', ['pod', 'queue']],
  ['Gerät überhitzt', ['gerät', 'überhitzt']],
  ['', []],
];
for (const [text, expected] of words)
  test(`the words of ${JSON.stringify(text)} are ${expected.join(', ') || 'none'}`, (t) => {
    t.deepEqual(splitSearchWords(text), expected);
  });

test('inflected forms of a word match each other', (t) => {
  t.deepEqual([...toStems('restarts restarted restarting')], ['restart']);
});

interface Cut {
  readonly format: Format;
  readonly content: string;
  readonly title: string;
  readonly passages: readonly (readonly [headings: readonly string[], text: string])[];
}
const cuts: Readonly<Record<string, Cut>> = {
  'Markdown is cut at its headings, each passage under those above it': {
    format: 'markdown',
    content: '# Disk\nIntro.\n\n## Steps\nDo it.\n### First\nOne.\n## After\nLook.',
    title: 'Disk',
    passages: [
      [[], 'Intro.'],
      [['Steps'], 'Do it.'],
      [['Steps', 'First'], 'One.'],
      [['After'], 'Look.'],
    ],
  },
  'underlined headings count, lines of tables and code do not': {
    format: 'markdown',
    content: 'Disk\n====\n\nSteps\n-----\n```sh\n# no heading\n```\n\n| a |\n---\n',
    title: 'Disk',
    passages: [[['Steps'], '```sh\n# no heading\n```\n\n| a |\n---']],
  },
  'a head in YAML gives the title, and is no text': {
    format: 'markdown',
    content: '---\ntitle: "Full disk"\nweight: 3\n---\nText.',
    title: 'Full disk',
    passages: [[[], 'Text.']],
  },
  'scripts, styles and comments in Markdown are left out': {
    format: 'markdown',
    content: '# A\nbefore <script>alert(1)</script>middle<!-- hidden --> <STYLE>x{}</STYLE>after <!-- never closed',
    title: 'A',
    passages: [[[], 'before middle after']],
  },
  'HTML is read as a browser shows it, without what it would run': {
    format: 'html',
    content:
      '<html><head><title>A &amp; B</title><script>if (a < b) alert("</p>")</script></head><body><nav>menu</nav><h1>A &amp; B</h1><p onclick="x()">One <b>bold</b>&nbsp;&#8217;word&#x2019;.</p><h2>Steps</h2><ul><li>first</li><li>second</li></ul><pre>a  b\n  c</pre><iframe src="x">no</iframe></body></html>',
    title: 'A & B',
    passages: [
      [[], 'One bold ’word’.'],
      [['Steps'], '- first\n- second\na  b\n  c'],
    ],
  },
  'escaped markup stays text and is not read again': {
    format: 'html',
    content: '<p>&lt;script&gt;alert(1)&lt;/script&gt; 3 < 4</p>',
    title: '<script>alert(1)</script> 3 < 4',
    passages: [[[], '<script>alert(1)</script> 3 < 4']],
  },
  'a script that does not end takes the rest': {
    format: 'html',
    content: '<p>seen</p><script>a<p>not seen</p>',
    title: 'seen',
    passages: [[[], 'seen']],
  },
  'text has one passage, and its first line for a title': {
    format: 'text',
    content: 'Call the office.\n# no heading',
    title: 'Call the office.',
    passages: [[[], 'Call the office.\n# no heading']],
  },
  'headings alone are found, too': {
    format: 'markdown',
    content: '# Only a title',
    title: 'Only a title',
    passages: [[[], 'Only a title']],
  },
};
for (const [title, { format, content, ...expected }] of Object.entries(cuts))
  test(title, (t) => {
    const read = readDocument(content, format);
    t.is(read.title, expected.title);
    t.deepEqual(
      read.passages.map(({ headings, text }) => [[...headings], text]),
      expected.passages.map(([headings, text]) => [[...headings], text]),
    );
  });

test('a long section is split into several passages without losing text', (t) => {
  const lines = Array.from({ length: 500 }, (_, index) => `Sentence number ${index} of a long section.`);
  const { passages } = readDocument(`# Long\n${lines.join('\n')}`, 'markdown');
  t.true(passages.length > 5);
  t.true(passages.every(({ text }) => text.length <= 2_000));
  t.is(passages.map(({ text }) => text).join('\n'), lines.join('\n'));
});

const hostile: Readonly<Record<string, string>> = {
  'open tags': '<a '.repeat(350_000),
  'open comments': '<!--'.repeat(260_000),
  'ends that are none': '</'.repeat(500_000),
  'scripts that do not end': '<script>'.repeat(130_000),
  'titles that do not end': '<title></'.repeat(110_000),
  'open quotes': '<p a="'.repeat(170_000),
  'nested elements': '<nav>'.repeat(200_000),
  entities: '&#'.repeat(500_000),
  brackets: '['.repeat(1_000_000),
  'links that do not close': '[a]('.repeat(250_000),
  hashes: '#'.repeat(1_000_000),
  fences: '```\n'.repeat(250_000),
  underlines: 'a\n---\n'.repeat(170_000),
  backticks: '`'.repeat(1_000_000),
  'list marks': '- '.repeat(500_000),
  'one word': 'aB'.repeat(500_000),
  'marks on letters': 'a\u0300'.repeat(500_000),
};
for (const [name, content] of Object.entries(hostile))
  test(`a megabyte of ${name} is read in linear time`, (t) => {
    for (const format of ['markdown', 'html'] as const) {
      const { passages } = readDocument(content, format);
      for (const { text } of passages.slice(0, 50)) {
        splitSentences(text);
        splitSearchWords(text);
      }
      t.true(passages.every(({ text }) => text.length <= 2_000 && text.isWellFormed()));
    }
  });

const bookOf = (id: string, content: string, source: Source = 'document'): PassageSource => {
  const { title, passages } = readDocument(content, 'markdown');
  return { source, id, title, url: '', passages };
};
const all = new Set<Source>(sources);
const indexOf = async (...books: readonly PassageSource[]): Promise<PassageIndex> => {
  const index = new PassageIndex();
  for (const book of books) await index.add(book.id, book);
  return index;
};

test('runbooks are found by the texts of alerts', async (t) => {
  const grown = await foundFor(grownWith, grownWith);
  t.true(grown.first >= 0.9 && grown.five === 1, JSON.stringify(grown));
  const aside = await foundFor(putAside, [...grownWith, ...putAside]);
  t.true(aside.first >= 0.8 && aside.five >= 0.95, JSON.stringify(aside));
});

for (const [trade, runbooks] of [
  ['a brewery', brewery],
  ['a broadcaster', broadcaster],
] as const)
  test(`runbooks of ${trade} are found for questions of people on call`, async (t) => {
    const queries = runbooks.flatMap(({ questions, ...runbook }) => questions.map((alert) => ({ ...runbook, alert })));
    const among = runbooks.map((runbook) => ({ ...runbook, alert: '' }));
    const found = await foundFor(queries, [...grownWith, ...putAside, ...among]);
    t.true(found.first >= 0.8 && found.five >= 0.95, JSON.stringify(found));
  });

test('a runbook ranks above a rule with the same words, and sources can be excluded', async (t) => {
  const text = '# Queue\nThe queue of orders is long.';
  const index = await indexOf(bookOf('rule', text, 'rule'), bookOf('runbook', text));
  const ids = (from: ReadonlySet<Source>) =>
    index.search('orders queue long', { from, limit: 9 }).map(({ origin }) => origin.id);
  t.deepEqual(ids(all), ['runbook', 'rule']);
  t.deepEqual(ids(new Set<Source>(['rule'])), ['rule']);
});

test('a removed runbook is no longer found, even while it is being added', async (t) => {
  const index = await indexOf(bookOf('one', '# Disk\nfull'), bookOf('two', '# Disk\nslow'));
  index.remove('one');
  t.deepEqual(
    index.search('disk', { from: all, limit: 9 }).map(({ origin }) => origin.id),
    ['two'],
  );
  const long = bookOf('three', Array.from({ length: 200 }, (_, nth) => `# Disk ${nth}\ntext`).join('\n'));
  const adding = index.add('three', long);
  index.remove('three');
  await adding;
  t.is(index.search('disk', { from: all, limit: 99 }).length, 1);
  t.is(index.passages, 1);
});

const found = (
  text: string,
  { id = 'a', source = 'document' as Source, query = undefined as PassageSource['query'] } = {},
): FoundPassage => ({
  origin: { source, id, title: 'Queue', url: '', query },
  nth: 0,
  headings: [],
  text,
  score: 1,
});

test('an answer consists of sentences from passages, each with all passages that contain it', (t) => {
  const passages = [
    found('The queue grows when workers are down. Restart the workers with care. Tea is at four.'),
    found('Restart the workers with care.', { id: 'b' }),
  ];
  const { sentences, reason } = selectBestSentences('how do I restart workers of the queue?', passages);
  t.is(reason, null);
  t.deepEqual(sentences, [
    { text: 'The queue grows when workers are down.', passages: [0] },
    { text: 'Restart the workers with care.', passages: [0, 1] },
  ]);
});

test('if no passage is relevant, the answer is unknown, with a reason', (t) => {
  const { sentences, reason } = selectBestSentences('who won the chess championship in queue?', [
    found('The queue grows.'),
  ]);
  t.deepEqual(sentences, []);
  t.regex(reason ?? '', /^unknown, because no passage/);
  t.regex(selectBestSentences('anything', []).reason ?? '', /^unknown/);
});

test('links in sentences are replaced by their text, and code is not a sentence', (t) => {
  t.deepEqual(
    splitSentences(
      'See [the **status** page](https://evil.example/x) of it.\n\n```\nrm -rf everything here\n```\n1. Then call the office.',
    ),
    ['See the status page of it.', 'Then call the office.'],
  );
});

const named: Readonly<Record<string, readonly [text: string, source: Source, kinds: readonly string[]]>> = {
  'PromQL in a line': ['Look at `sum(rate(errors_total[5m]))` first.', 'document', ['promql']],
  'PromQL in a block': ['```promql\nmax(lag) by (topic)\n```', 'document', ['promql']],
  'a Query in JSON': [
    '```json\n{"kind":"aggregate","signal":"logs","measures":[{"function":"count"}]}\n```',
    'document',
    ['aggregate'],
  ],
  'no commands of a shell': ['Run `kubectl -n shop logs -l app=cart`, then `rm -rf /tmp/x`.', 'document', []],
  'nothing of a log pattern, which an attacker may write': ['`sum(rate(errors_total[5m]))`', 'log-pattern', []],
  'nothing of what is broken': ['```json\n{"kind":"aggregate"\n```\n`sum(rate(`', 'document', []],
};
for (const [title, [text, source, kinds]] of Object.entries(named))
  test(`queries in a passage: ${title}`, (t) => {
    t.deepEqual(
      extractQueries([found(text, { source })], 5).map(({ query }) => query.kind),
      [...kinds],
    );
  });

test('a rule lists its own query, and each query is listed once', (t) => {
  const query = { kind: 'promql', expression: 'sum(up)' } as const;
  t.deepEqual(extractQueries([found('`sum(up)`'), found('text', { source: 'rule', query })], 5), [
    { query, passageIndex: 0, missing: [] },
  ]);
});
