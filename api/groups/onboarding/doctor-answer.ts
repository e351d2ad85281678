/** What can be told from the answer that a sender saw. Tables, most telling first. */
import type { Attempt } from './doctor-attempt.ts';
import { type Finding, type FindingCode, problem } from './finding.ts';

type Said = readonly [code: FindingCode, message: string, action: string];

const otherKey: Said = [
  'other-key-sent',
  'this key is good, so a sender that is answered “unauthenticated” presents another key, or none',
  'check the header: X-License-Key (gRPC: x-license-key in lower case), and that nothing on the way removes it; X-License-Key wins over Authorization',
];
const limited: Said = [
  'rate-limited',
  'the sender went over a limit of requests or of the day’s volume',
  'let it batch and wait as Retry-After says; the limits are the key’s and the plan’s',
];
const nothingThere: Said = [
  'wrong-endpoint',
  'there is nothing at the address that the sender used',
  'compare the endpoint with GET /api/onboarding/snippets',
];
const refused: Said = [
  'refused-payload',
  'the body was refused as malformed; it is kept as a dead letter, with the reason',
  'read the reason below, or under GET /api/dead-letter',
];
const away: Said = [
  'unavailable',
  'the receiver could not take the request at that moment; nothing was lost that was not acknowledged',
  'let the sender try again; when it lasts, see /readyz',
];

const httpStatuses: Readonly<Record<number, Said>> = {
  400: refused,
  401: otherKey,
  404: nothingThere,
  405: [
    'wrong-protocol',
    'telemetry is sent with POST',
    'check which program asked; opening the address in a browser cannot work',
  ],
  413: [
    'too-large',
    'the body was larger than the cap: 50 MB for OTLP, 20 MB for remote-write',
    'send smaller batches',
  ],
  415: [
    'wrong-content-type',
    'Content-Type or Content-Encoding is none that is taken here',
    'OTLP: application/x-protobuf or application/json with gzip, deflate, zstd or no encoding; remote-write: snappy',
  ],
  429: limited,
};

const grpcCodes: Readonly<Record<number, Said>> = {
  3: refused,
  4: away,
  8: limited,
  12: nothingThere,
  14: away,
  16: otherKey,
};

const messages: readonly (readonly [RegExp, Said])[] = [
  [
    /wrong version number|SSL routines|tls: first record|packet length too long|EPROTO/i,
    [
      'wrong-endpoint',
      'one side speaks TLS and the other does not',
      'check http:// against https://, and “insecure” of the gRPC exporter',
    ],
  ],
  [
    /certificate|x509|self[- ]signed|CERT_/i,
    [
      'unreachable',
      'the sender does not trust the certificate',
      'give the sender the authority’s certificate, or a certificate that it trusts',
    ],
  ],
  [
    /HTTP\/1\.x|malformed HTTP response|http2|frame (?:too large|header)|preface|Parse Error|HTTP\/0\.9|expected HTTP/i,
    [
      'wrong-protocol',
      'one side speaks gRPC and the other HTTP',
      'OTLP over gRPC and over HTTP have different ports: see GET /api/onboarding/snippets',
    ],
  ],
  [
    /ENOTFOUND|EAI_AGAIN|no such host|name resolution|getaddrinfo/i,
    ['unreachable', 'the sender cannot resolve the host’s name', 'check the name, and the DNS of the sender’s network'],
  ],
  [
    /ECONNREFUSED|connection refused/i,
    [
      'unreachable',
      'nothing listens at this address, as seen from the sender',
      'by default all ports are bound to loopback: set OIQ_HTTP_ADDRESS, OIQ_OTLP_GRPC_ADDRESS, OIQ_OTLP_HTTP_ADDRESS; within a container localhost is the container',
    ],
  ],
  [
    /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|timed? ?out|deadline exceeded|no route/i,
    [
      'unreachable',
      'the sender’s packets get no answer',
      'check firewalls, security groups and proxies between the sender and here',
    ],
  ],
];

const finding = ([code, message, action]: Said): Finding => problem(code, message, action);

/** What the status and the message say. A status below 17 is gRPC's. */
export const answerFindings = ({ status, error }: Attempt): Finding[] => {
  const findings: Finding[] = [];
  const said = error === undefined ? undefined : messages.find(([pattern]) => pattern.test(error))?.[1];
  if (said !== undefined) findings.push(finding(said));
  if (status === undefined) return findings;
  const table = status < 17 ? grpcCodes : httpStatuses;
  const known = table[status] ?? (status >= 500 ? away : undefined);
  if (known !== undefined) findings.push(finding(known));
  return findings;
};
