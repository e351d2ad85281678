/** Paths over XML responses. */
import test from 'ava';
import { judgeAssertions } from '../../../subjects/synthetics/assertions.ts';
import { CheckFields } from '../../../subjects/synthetics/check.ts';
import { findCheckProblems } from '../../../subjects/synthetics/problems.ts';
import { readXmlValues } from '../../../subjects/synthetics/response-documents.ts';
import { findXPathProblem, parseXPath, type XPath } from '../../../subjects/synthetics/x-path.ts';
import { XPathReader } from '../../../subjects/synthetics/x-path-reader.ts';
import { parseXml, type XmlElement } from '../../../subjects/synthetics/xml.ts';

const soap = `\uFEFF<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE x [<!ENTITY e "no">]>
<!-- <status>comment</status> -->
<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/">
  <soap:Body>
    <m:Orders xmlns:m="urn:orders" total='2'>
      <m:order id="1" note="a &gt; b"><status>paid &amp; sent</status><item>cup</item><item>pot</item></m:order>
      <m:order id="2"><status><![CDATA[<open>]]></status><empty/></m:order>
    </m:Orders>
  </soap:Body>
</soap:Envelope>
`;

const valuesOf = (path: string, text = soap): readonly (string | number)[] | string => {
  const problem = findXPathProblem(path);
  if (problem !== undefined) throw new Error(problem);
  return readXmlValues(path, { body: text });
};

test('paths find elements, attributes and texts as XPath does', (t) => {
  const table: readonly (readonly [path: string, values: readonly (string | number)[]])[] = [
    ['/Envelope/Body/Orders/order/status', ['paid & sent', '<open>']],
    ['/soap:Envelope/soap:Body/m:Orders/@total', ['2']],
    ['/m:Envelope', []],
    ['//status', ['paid & sent', '<open>']],
    ['//order[2]/status', ['<open>']],
    ['//order[last()]/@id', ['2']],
    ['//order[@id="1"]/item', ['cup', 'pot']],
    ["//order[status='<open>']/@id", ['2']],
    ['//order[item]/@id', ['1']],
    ['//order[@id="1"]/item[2]', ['pot']],
    ['//item[.="pot"]', ['pot']],
    ['//order/@note', ['a > b']],
    ['//@id', ['1', '2']],
    ['//order/*[1]', ['paid & sent', '<open>']],
    ['//item/text()', ['cup', 'pot']],
    ['//empty', ['']],
    ['//missing', []],
    ['count(//item)', [2]],
    ['count(//missing)', [0]],
    ['//Body//Orders//item', ['cup', 'pot']],
    ['/Envelope/Body/Orders/order[1]', ['paid & sentcuppot']],
  ];
  for (const [path, values] of table) t.deepEqual(valuesOf(path), values, path);
});

test('a text that is not well-formed has no values', (t) => {
  for (const text of ['', 'x', '<a>', '<a></b>', '</a>', '<a', '<a><!-- </a>', '{"a":1}', '<br><p></br></p>'])
    t.deepEqual(valuesOf('//*', text), [], text);
  const deep = `${'<a>'.repeat(100_000)}${'</a>'.repeat(100_000)}`;
  t.deepEqual(valuesOf('//a', deep), []);
});

test('references of documents are not expanded', (t) => {
  const text = '<!DOCTYPE a [<!ENTITY e "xxx"><!ENTITY f SYSTEM "file:///etc/passwd">]><a>&e;&f;&#65;&#x42;&#0;</a>';
  t.deepEqual(valuesOf('/a', text), ['&e;&f;AB&#0;']);
});

test('an element can have any number of children', (t) => {
  t.deepEqual(valuesOf('count(//b)', `<a>${'<b/>'.repeat(300_000)}</a>`), [300_000]);
});

test('a large response takes time proportional to its size', (t) => {
  const wide = `<a>${'<b><c>1</c></b>'.repeat(100_000)}</a>`;
  t.deepEqual(valuesOf('count(//*//*//c)', wide), [100_000]);
});

test('nested elements are read once for a predicate', (t) => {
  let readCount = 0;
  let element: XmlElement = { name: 'a', attributes: new Map(), children: ['x'.repeat(3000)] };
  for (let depth = 1; depth < 100; depth++) {
    const children = [element];
    element = {
      name: 'a',
      attributes: new Map(),
      get children() {
        readCount++;
        return children;
      },
    };
  }
  const path = parseXPath('//a[.="y"]');
  t.true(typeof path === 'object');
  t.deepEqual(new XPathReader({ name: '', attributes: new Map(), children: [element] }).findValues(path as XPath), []);
  t.true(readCount < 1000, String(readCount));
});

test('an assertion whose path has too much text fails, and the error says so', (t) => {
  const body = `${'<a>'.repeat(100)}${'x'.repeat(1_000_000)}${'</a>'.repeat(100)}`;
  const { messages } = judgeAssertions([{ source: 'xml', name: '//a', operator: 'absent', level: 'fail' }], { body });
  t.regex(messages[0] ?? '', /^xml \/\/a has too much text: its elements have more than 10000000 characters, so use/);
  t.is(readXmlValues('//a', { body }, 1).length, 1);
});

test('the paths of a response read a limited number of its parts together', (t) => {
  const document = parseXml('<a><b/><b/></a>');
  const path = parseXPath('//b');
  t.true(document !== undefined && typeof path === 'object');
  const reader = new XPathReader(document as XmlElement, 20);
  t.deepEqual(reader.findValues(path as XPath), ['', '']);
  t.regex(String(reader.findValues(path as XPath)), /^is too much to read: .* read more than 20 parts of it/);
});

test('a response is parsed once for all its assertions and values', (t) => {
  for (const [source, name, body] of [
    ['xml', '//order/@id', soap],
    ['json', '$.id', '{"id":1}'],
  ] as const) {
    let readCount = 0;
    const response = {
      get body() {
        readCount++;
        return body;
      },
    };
    const assertions = Array.from({ length: 5 }, () => ({ source, name, operator: 'exists', level: 'fail' }) as const);
    t.is(judgeAssertions(assertions, response).outcome, 'passed', source);
    t.is(readCount, 1, source);
  }
});

test('other expressions are refused with the supported syntax', (t) => {
  for (const path of ['', 'a/b', '/a[', '/a/b[position()<3]', '/a/..', 'string(/a)', '//a/@b/c', '/a|/b', '/a/b[c>1]'])
    t.regex(findXPathProblem(path) ?? '', /^is not a supported XPath: use paths such as/, path);
});

test('predicates on attributes and texts are refused', (t) => {
  for (const path of ['//a/@k[.="2"]', '//a/text()[2]', '/a/@*[1]', 'count(/a/@k[last()])'])
    t.regex(findXPathProblem(path) ?? '', /^has a predicate on an attribute or text\(\)/, path);
});

test('assertions compare values of XML', (t) => {
  const judge = (name: string, operator: string, value?: string | number) =>
    judgeAssertions(
      [{ source: 'xml', name, operator, ...(value !== undefined && { value }), level: 'fail' } as never],
      { body: soap },
    );
  t.is(judge('//order[1]/status', 'is', 'paid & sent').outcome, 'passed');
  t.is(judge('count(//order)', 'gte', 2).outcome, 'passed');
  t.is(judge('//order/@id', 'contains', '2').outcome, 'passed');
  t.is(judge('//fault', 'absent').outcome, 'passed');
  t.deepEqual(judge('//order[1]/status', 'is', 'sent').messages, [
    'xml //order[1]/status is paid & sent, expected: is sent',
  ]);
  const cut = judgeAssertions([{ source: 'xml', name: '//a', operator: 'exists', level: 'fail' }], {
    body: '<a>',
    cut: { readBytes: 3, isSizeKnown: false },
  });
  t.regex(cut.messages[0] ?? '', /is not known: only the first 3 bytes/);
});

test('a check refuses an XPath that is not supported, in assertions and values', (t) => {
  const steps = (xpath: string) => [
    {
      url: 'https://shop.example/',
      assertions: [{ source: 'xml', name: xpath, operator: 'exists' }],
      extract: [{ as: 'order', source: 'xml', path: xpath }],
    },
  ];
  const problemsOf = (xpath: string) =>
    findCheckProblems(CheckFields.parse({ name: 'c', type: 'http', http: { steps: steps(xpath) } }), {
      locations: new Set(['local']),
      variables: new Map(),
    } as never).map(({ path }) => path);
  t.deepEqual(problemsOf('//order/@id'), []);
  t.deepEqual(problemsOf('order'), ['http.steps.0.assertions.0.name', 'http.steps.0.extract.0.path']);
});
