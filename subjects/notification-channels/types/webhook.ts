import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { defineChannelType } from '../definition.ts';
import { httpUrl } from '../settings-fields.ts';

const secretPrefix = 'whsec_';
const decodeKey = (secret: string): Buffer => Buffer.from(secret.slice(secretPrefix.length), 'base64');

/** Returns the Standard Webhooks signature over id, time in seconds and body. */
export const createSignature = (secret: string, id: string, seconds: number, body: string): string =>
  `v1,${createHmac('sha256', decodeKey(secret)).update(`${id}.${seconds}.${body}`).digest('base64')}`;

export const webhook = defineChannelType({
  type: 'webhook',
  name: 'Webhook',
  summary: "Alertmanager's payload, version 4, signed according to Standard Webhooks.",
  settings: z.strictObject({
    type: z.literal('webhook'),
    url: httpUrl.describe('URL of the receiver; a secret, because it often contains a key'),
    signingSecret: z
      .string()
      .regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/, 'must be whsec_ and 24 to 64 bytes in base64')
      .optional()
      .describe('Secret that signs each request (`webhook-signature`); without it, requests are not signed'),
    authorization: z
      .string()
      .min(1)
      .max(4096)
      .regex(/^[\x20-\x7e]+$/, 'must be one line of ASCII')
      .optional()
      .describe('Value of the `Authorization` header'),
  }),
  secrets: { url: [], signingSecret: ['url'], authorization: ['url'] },
  requests({ id, payload }, { url, signingSecret, authorization }) {
    const body = JSON.stringify(payload);
    const seconds = Math.floor(Date.now() / 1000);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'oiq',
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'idempotency-key': id,
      ...(signingSecret !== undefined && { 'webhook-signature': createSignature(signingSecret, id, seconds, body) }),
      ...(authorization !== undefined && { authorization }),
    };
    return [{ url, headers, body }];
  },
});
