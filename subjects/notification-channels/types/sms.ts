import { z } from 'zod';
import { defineChannelType } from '../definition.ts';
import { truncate } from '../template.ts';
import { createTwilioRequest, judgeBySid, twilioSecrets, twilioSettings } from './twilio.ts';

/** Maximum length of the title. With the link, a message remains well below the limit of 1,600 characters. */
const maxTitleCharacters = 400;

export const sms = defineChannelType({
  type: 'sms',
  name: 'SMS',
  summary: 'The title and the link, through the API of Twilio or a compatible service.',
  settings: z.strictObject({ type: z.literal('sms'), ...twilioSettings }),
  secrets: twilioSecrets,
  requests: ({ title, link, acknowledge }, settings) => [
    createTwilioRequest('Messages', settings, {
      Body: [truncate(title, maxTitleCharacters), acknowledge?.pageUrl ?? link]
        .filter((part) => part !== '')
        .join('\n'),
    }),
  ],
  judge: judgeBySid,
});
