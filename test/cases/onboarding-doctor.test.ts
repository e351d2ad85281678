/** What the doctor concludes from the format of a key, the configured endpoint, and the response that a sender got. */
import test from 'ava';
import { type Attempt, checkEndpoint } from '../../api/groups/onboarding/doctor-attempt.ts';
import { checkKeyFormat } from '../../api/groups/onboarding/doctor-key.ts';
import { findResponseProblems } from '../../api/groups/onboarding/doctor-response.ts';
import { buildEndpoints } from '../../api/groups/onboarding/endpoints.ts';
import { generateLicenseKey } from '../../schemas/license-key-format.ts';
import { parseSettings } from '../../schemas/settings.ts';

const loopback = buildEndpoints(parseSettings({}), 'localhost:8080');
const published = buildEndpoints(parseSettings({ OIQ_PUBLIC_URL: 'https://oiq.example/' }), 'evil.example');

test('endpoints use the public address, or else the request address, each with the port of its receiver', (t) => {
  t.deepEqual(published, {
    otlpHttp: 'https://oiq.example/otlp',
    otlpGrpc: 'https://oiq.example:4317',
    otlpHttpBare: 'https://oiq.example:4318',
    remoteWrite: 'https://oiq.example/api/v1/prom/write',
    loki: 'https://oiq.example/loki/api/v1/push',
    zipkin: 'https://oiq.example/zipkin/api/v2/spans',
    opamp: 'https://oiq.example/otlp/v1/opamp',
    browsers: 'https://oiq.example/rum',
  });
  t.is(loopback.otlpHttp, 'http://localhost:8080/otlp');
  t.is(buildEndpoints(parseSettings({}), 'no host at all').otlpHttp, 'http://127.0.0.1:8080/otlp');
});

const key = generateLicenseKey();
const spelled: readonly (readonly [string, string | undefined, RegExp])[] = [
  [key, undefined, /$/],
  [`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`, 'malformed-key', /checksum/],
  [key.slice(0, -2), 'malformed-key', /41 of 43/],
  [`"${key}"`, 'malformed-key', /extra characters around/],
  [`Bearer ${key}`, 'malformed-key', /extra characters around/],
  [` ${key}\n`, 'malformed-key', /extra characters around/],
  ['glsa_abcdef', 'malformed-key', /start with oiq_lk_/],
  ['oiq_sa_abc', 'wrong-credential', /API token/],
  ['eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2ln', 'wrong-credential', /session token/],
];
test('a pasted text is classified as a key, another credential or a misspelt key', (t) => {
  for (const [text, code, message] of spelled) {
    const finding = checkKeyFormat(text);
    t.is(finding?.code, code as never, text);
    if (finding !== undefined) t.regex(finding.message, message);
  }
});

const pointed: readonly (readonly [Attempt, string | undefined])[] = [
  [{}, undefined],
  [{ endpoint: 'http://localhost:8080/otlp' }, undefined],
  [{ endpoint: 'http://localhost:8080/otlp/' }, undefined],
  [{ endpoint: 'http://localhost:8080/otlp/v1/logs', signal: 'logs' }, undefined],
  [{ endpoint: 'http://localhost:8080/otlp/v1/logs', signal: 'traces' }, 'wrong-endpoint'],
  [{ endpoint: 'http://localhost:8080/otlp/v2/logs' }, 'wrong-endpoint'],
  [{ endpoint: 'http://localhost:8080' }, 'wrong-endpoint'],
  [{ endpoint: 'http://localhost:8080/v1/logs' }, 'wrong-endpoint'],
  [{ endpoint: 'http://localhost:8080/otlp/v1/logs/v1/logs' }, 'wrong-endpoint'],
  [{ endpoint: 'https://localhost:8080/otlp' }, 'wrong-endpoint'],
  [{ endpoint: 'http://localhost:8080/otlp', protocol: 'otlp-grpc' }, 'wrong-protocol'],
  [{ endpoint: 'http://localhost:4318', protocol: 'otlp-grpc' }, 'wrong-protocol'],
  [{ endpoint: 'http://localhost:4318' }, undefined],
  [{ endpoint: 'http://localhost:4318/v1/traces' }, undefined],
  [{ endpoint: 'http://localhost:4318/otlp/v1/traces' }, 'wrong-endpoint'],
  [{ endpoint: 'localhost:4317' }, undefined],
  [{ endpoint: 'localhost:4317', protocol: 'otlp-grpc' }, undefined],
  [{ endpoint: 'http://localhost:4317/v1/traces' }, 'wrong-endpoint'],
  [{ endpoint: 'http://localhost:4317', protocol: 'otlp-http' }, 'wrong-protocol'],
  [{ endpoint: 'http://localhost:8080/api/v1/prom/write' }, undefined],
  [{ endpoint: 'http://localhost:8080/api/v1/prom/write', protocol: 'otlp-http' }, 'wrong-protocol'],
  [{ endpoint: 'http://localhost:8080/api/v1/write', protocol: 'remote-write' }, 'wrong-endpoint'],
  [{ endpoint: 'http://localhost:4317/api/v1/prom/write', protocol: 'remote-write' }, 'wrong-protocol'],
  [{ endpoint: 'http://localhost:8080/rum/oiq_pk_1/faro' }, undefined],
  [{ endpoint: 'ws://localhost:4318/v1/opamp' }, undefined],
  [{ endpoint: 'http://localhost:8080/otlp/v1/opamp' }, undefined],
  [{ endpoint: 'ws://localhost:8080/v1/opamp' }, 'wrong-endpoint'],
  [{ endpoint: 'ws://localhost:4318/otlp/v1/opamp' }, 'wrong-endpoint'],
  [{ endpoint: 'wss://localhost:8080/otlp/v1/opamp' }, 'wrong-endpoint'],
  [{ endpoint: 'ws://localhost:4318/v1/logs' }, 'wrong-endpoint'],
  [{ endpoint: 'http://localhost:4318/rum/oiq_pk_1/v1/logs' }, undefined],
  [{ endpoint: 'http://localhost:8080/rum/oiq_pk_1' }, undefined],
  [{ endpoint: 'http://localhost:8080/rum/oiq_pk_1/v1/metrics' }, 'wrong-endpoint'],
  [{ endpoint: 'http://localhost:8080/rum/' }, 'wrong-endpoint'],
  [{ endpoint: 'http://' }, 'wrong-endpoint'],
];
test('an endpoint is classified as correct, wrong address or wrong protocol', (t) => {
  for (const [attempt, code] of pointed) {
    const finding = checkEndpoint(attempt, loopback);
    t.is(finding?.code, code as never, JSON.stringify(attempt));
    if (finding !== undefined) t.regex(finding.action, /http|v1/, JSON.stringify(attempt));
  }
});

const response: readonly (readonly [Attempt, readonly string[]])[] = [
  [{}, []],
  [{ status: 200 }, []],
  [{ status: 0 }, []],
  [{ status: 400 }, ['refused-payload']],
  [{ status: 401 }, ['other-key-sent']],
  [{ status: 16 }, ['other-key-sent']],
  [{ status: 404 }, ['wrong-endpoint']],
  [{ status: 12 }, ['wrong-endpoint']],
  [{ status: 413 }, ['too-large']],
  [{ status: 415 }, ['wrong-content-type']],
  [{ status: 429 }, ['rate-limited']],
  [{ status: 8 }, ['rate-limited']],
  [{ status: 502 }, ['unavailable']],
  [{ error: 'connect ECONNREFUSED 127.0.0.1:4318' }, ['unreachable']],
  [{ error: 'x509: certificate signed by unknown authority' }, ['unreachable']],
  [{ error: 'tls: first record does not look like a TLS handshake' }, ['wrong-endpoint']],
  [{ error: 'malformed HTTP response "\\x00\\x00\\x06"' }, ['wrong-protocol']],
  [{ error: 'context deadline exceeded', status: 503 }, ['unreachable', 'unavailable']],
  [{ error: 'blocked by CORS policy: No header is present' }, ['blocked-origin']],
  [{ error: 'something else' }, []],
];
test('the response that a sender got is classified', (t) => {
  for (const [attempt, codes] of response)
    t.deepEqual(
      findResponseProblems(attempt).map(({ code }) => code),
      codes as never,
      JSON.stringify(attempt),
    );
});
