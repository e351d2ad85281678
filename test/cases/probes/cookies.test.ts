/** Which cookies are sent where: tables from RFC 6265. */
import test from 'ava';
import { Cookies } from '../../../probes/cookies.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');

test('a cookie is sent to its host, domain, path and scheme, until it expires', (t) => {
  const cases: readonly [string, string, string, boolean][] = [
    ['https://shop.example/', 'a=1', 'https://shop.example/x', true],
    ['https://shop.example/', 'a=1', 'https://www.shop.example/', false],
    ['https://www.shop.example/', 'a=1; Domain=shop.example', 'https://api.shop.example/', true],
    ['https://www.shop.example/', 'a=1; Domain=.shop.example', 'https://shop.example/', true],
    ['https://shop.example/', 'a=1; Domain=shop.example', 'https://www.shop.example/', true],
    ['https://www.shop.example/', 'a=1; Domain=other.example', 'https://other.example/', false],
    ['https://www.shop.example/', 'a=1; Domain=other.example', 'https://www.shop.example/', false],
    ['https://shop.example/', 'a=1; Domain=example', 'https://other.example/', false],
    ['https://notshop.example/', 'a=1; Domain=shop.example', 'https://shop.example/', false],
    ['http://127.0.0.1/', 'a=1; Domain=0.0.1', 'http://127.0.0.1/', false],
    ['http://127.0.0.1:81/', 'a=1', 'http://127.0.0.1:82/', true],
    ['http://[::1]/', 'a=1', 'http://[::1]/', true],
    ['https://shop.example/in/login', 'a=1', 'https://shop.example/in/x', true],
    ['https://shop.example/in/login', 'a=1', 'https://shop.example/other', false],
    ['https://shop.example/in/login', 'a=1; Path=/', 'https://shop.example/other', true],
    ['https://shop.example/', 'a=1; Path=/in', 'https://shop.example/in/x', true],
    ['https://shop.example/', 'a=1; Path=/in', 'https://shop.example/inner', false],
    ['https://shop.example/', 'a=1; Secure', 'https://shop.example/', true],
    ['https://shop.example/', 'a=1; Secure', 'http://shop.example/', false],
    ['https://shop.example/', 'a=1; Max-Age=60', 'https://shop.example/', true],
    ['https://shop.example/', 'a=1; Max-Age=0', 'https://shop.example/', false],
    ['https://shop.example/', 'a=1; Expires=Sun, 01 Mar 2026 12:00:01 GMT', 'https://shop.example/', true],
    ['https://shop.example/', 'a=1; Expires=Sun, 01 Mar 2026 11:00:00 GMT', 'https://shop.example/', false],
    ['https://shop.example/', 'a=1; Expires=Sun, 01 Mar 2026 11:00:00 GMT; Max-Age=5', 'https://shop.example/', true],
    ['https://shop.example/', 'nothing', 'https://shop.example/', false],
  ];
  for (const [from, header, to, isSent] of cases) {
    const cookies = new Cookies();
    cookies.store(new URL(from), [header], nowMs);
    t.is(cookies.header(new URL(to), '', nowMs), isSent ? 'a=1' : '', `${header} of ${from} to ${to}`);
  }
});

test('a cookie replaces that of its name, domain and path, and longer paths come first', (t) => {
  const cookies = new Cookies();
  const url = new URL('https://shop.example/in/x');
  cookies.store(url, ['a=1; Path=/', 'b=2', 'a=3; Path=/', 'c="x=y"; Path=/in'], nowMs);
  t.is(cookies.header(url, '', nowMs), 'b=2; c="x=y"; a=3');
  cookies.store(url, ['a=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT'], nowMs);
  t.is(cookies.header(url, 'own=1', nowMs), 'own=1; b=2; c="x=y"');
  cookies.store(url, ['b=2; Max-Age=10'], nowMs);
  t.is(cookies.header(url, '', nowMs + 11_000), 'c="x=y"');
});
