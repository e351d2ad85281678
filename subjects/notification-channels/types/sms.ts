import { z } from 'zod';
import { defineChannelType } from '../definition.ts';
import { cut } from '../template.ts';
import { byTwilioId, twilioRequest, twilioSecrets, twilioSettings } from './twilio.ts';

/** Of the title: with the link behind it a message stays well below the 1,600 characters that are taken. */
const maxCharacters = 400;

export const sms = defineChannelType({
  type: 'sms',
  name: 'SMS',
  summary: 'The title and the link, by the API of Twilio or of a service that has the same.',
  settings: z.strictObject({ type: z.literal('sms'), ...twilioSettings }),
  secrets: twilioSecrets,
  requests: ({ title, link }, settings) => [
    twilioRequest('Messages', settings, {
      Body: [cut(title, maxCharacters), link].filter((part) => part !== '').join('\n'),
    }),
  ],
  judge: byTwilioId,
});
