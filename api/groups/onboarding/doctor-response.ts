/** A finding about the response that the sender received, by HTTP status, gRPC code or error message */
import type { Attempt } from './doctor-attempt.ts';
import { createProblem, type Finding, type FindingCode } from './finding.ts';

type FindingText = readonly [code: FindingCode, message: string, action: string];

const otherKeyText: FindingText = [
  'other-key-sent',
  'this key is valid, so a sender that gets “unauthenticated” sends a different key, or none',
  'check the header X-License-Key (gRPC: x-license-key in lower case), and that no proxy removes it; X-License-Key takes precedence over Authorization',
];
const rateLimitText: FindingText = [
  'rate-limited',
  'the sender exceeded a limit of requests or of the daily volume',
  'let the sender batch, and wait for the time in Retry-After; the limits are those of the key and of the plan',
];
const notFoundText: FindingText = [
  'wrong-endpoint',
  'the URL that the sender used does not exist here',
  'compare the endpoint with GET /api/onboarding/snippets',
];
const rejectedText: FindingText = [
  'refused-payload',
  'the body was rejected as malformed; it is stored as a dead letter, with the reason',
  'read the reason below, or under GET /api/dead-letter',
];
const unavailableText: FindingText = [
  'unavailable',
  'the receiver was temporarily unable to accept the request; acknowledged data is not lost',
  'let the sender retry; if it persists, check /readyz',
];

const httpStatuses: Readonly<Record<number, FindingText>> = {
  400: rejectedText,
  401: otherKeyText,
  404: notFoundText,
  405: [
    'wrong-protocol',
    'telemetry is sent with POST',
    'check which program sent the request; opening the URL in a browser does not work',
  ],
  413: [
    'too-large',
    'the body was too large; the maximum is 50 MB for OTLP and 20 MB for remote-write',
    'send smaller batches',
  ],
  415: [
    'wrong-content-type',
    'Content-Type or Content-Encoding is not supported',
    'OTLP: application/x-protobuf or application/json with gzip, deflate, zstd or no encoding; remote-write: snappy',
  ],
  429: rateLimitText,
};

const grpcCodes: Readonly<Record<number, FindingText>> = {
  3: rejectedText,
  4: unavailableText,
  8: rateLimitText,
  12: notFoundText,
  14: unavailableText,
  16: otherKeyText,
};

const messages: readonly (readonly [RegExp, FindingText])[] = [
  [
    /CORS policy|CORS request|Access-Control-Allow-Origin/i,
    [
      'blocked-origin',
      'the browser blocked the request, because the origin of the page is not one of the key',
      'add the origin of the page to the browser key, with its scheme and port',
    ],
  ],
  [
    /wrong version number|SSL routines|tls: first record|packet length too long|EPROTO/i,
    [
      'wrong-endpoint',
      'one side uses TLS and the other does not',
      'check http:// or https:// in the endpoint, and “insecure” of the gRPC exporter',
    ],
  ],
  [
    /certificate|x509|self[- ]signed|CERT_/i,
    [
      'unreachable',
      'the sender does not trust the certificate',
      'configure the sender with the certificate of the authority, or use a certificate that it trusts',
    ],
  ],
  [
    /HTTP\/1\.x|malformed HTTP response|http2|frame (?:too large|header)|preface|Parse Error|HTTP\/0\.9|expected HTTP/i,
    [
      'wrong-protocol',
      'one side uses gRPC and the other HTTP',
      'OTLP over gRPC and over HTTP have different ports: see GET /api/onboarding/snippets',
    ],
  ],
  [
    /ENOTFOUND|EAI_AGAIN|no such host|name resolution|getaddrinfo/i,
    ['unreachable', 'the sender cannot resolve the host name', 'check the name and the DNS of the sender’s network'],
  ],
  [
    /ECONNREFUSED|connection refused/i,
    [
      'unreachable',
      'the sender’s connection was refused: nothing listens at this address',
      'by default all ports listen on loopback only: set OIQ_HTTP_ADDRESS, OIQ_OTLP_GRPC_ADDRESS, OIQ_OTLP_HTTP_ADDRESS; inside a container, localhost is the container itself',
    ],
  ],
  [
    /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|timed? ?out|deadline exceeded|no route/i,
    [
      'unreachable',
      'the sender’s packets get no response',
      'check firewalls, security groups and proxies between the sender and here',
    ],
  ],
];

const toFinding = ([code, message, action]: FindingText): Finding => createProblem(code, message, action);

/** Returns findings from status and message. A status below 17 is a gRPC code. */
export const findResponseProblems = ({ status, error }: Attempt): Finding[] => {
  const findings: Finding[] = [];
  const text = error === undefined ? undefined : messages.find(([pattern]) => pattern.test(error))?.[1];
  if (text !== undefined) findings.push(toFinding(text));
  if (status === undefined) return findings;
  const table = status < 17 ? grpcCodes : httpStatuses;
  const statusText = table[status] ?? (status >= 500 ? unavailableText : undefined);
  if (statusText !== undefined) findings.push(toFinding(statusText));
  return findings;
};
