/** Shared by SMS and voice: an account of a service with Twilio's API, version 2010-04-01 */
import { z } from 'zod';
import { type ChannelRequest, judgeByResponse, parseResponseFields } from '../definition.ts';
import { httpUrl, token } from '../settings-fields.ts';

const phoneNumber = z.string().regex(/^\+[1-9]\d{6,14}$/, 'must be a phone number such as +41441234567');

/** Settings of an account and its recipients */
export const twilioSettings = {
  accountSid: z.string().regex(/^[\w-]{1,64}$/, 'must be an account SID, such as AC and 32 digits'),
  authToken: token.describe('Auth token of the account'),
  from: phoneNumber.describe('Phone number of the account'),
  to: phoneNumber,
  url: httpUrl.default('https://api.twilio.com').describe('Base URL; change it for a service with a compatible API'),
};
type Settings = z.output<z.ZodObject<typeof twilioSettings>>;

/** The token is only sent to this URL and account. */
export const twilioSecrets = { authToken: ['url', 'accountSid'] };

/** Returns the request that creates a message or a call. */
export const createTwilioRequest = (
  resource: 'Messages' | 'Calls',
  { url, accountSid, authToken, from, to }: Settings,
  parameters: Readonly<Record<string, string>>,
): ChannelRequest => ({
  url: `${url.replace(/\/$/, '')}/2010-04-01/Accounts/${accountSid}/${resource}.json`,
  headers: {
    'content-type': 'application/x-www-form-urlencoded',
    'user-agent': 'oiq',
    authorization: `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`,
  },
  body: new URLSearchParams({ To: to, From: from, ...parameters }).toString(),
});

/** A delivery is confirmed if the response contains an id. */
export const judgeBySid = judgeByResponse((response) => typeof parseResponseFields(response)['sid'] === 'string');
