import { z } from 'zod';
import { defineChannelType } from '../definition.ts';
import { cut } from '../template.ts';
import { byTwilioId, twilioRequest, twilioSecrets, twilioSettings } from './twilio.ts';

/** Maximum length of the title. With the link, a message remains well below the limit of 1,600 characters. */
const maxCharacters = 400;

export const sms = defineChannelType({
  type: 'sms',
  name: 'SMS',
  summary: 'The title and the link, through the API of Twilio or a compatible service.',
  settings: z.strictObject({ type: z.literal('sms'), ...twilioSettings }),
  secrets: twilioSecrets,
  requests: ({ title, link }, settings) => [
    twilioRequest('Messages', settings, {
      Body: [cut(title, maxCharacters), link].filter((part) => part !== '').join('\n'),
    }),
  ],
  judge: byTwilioId,
});
