import { z } from 'zod';
import { defineChannelType } from '../definition.ts';
import { truncate } from '../template.ts';
import { createTwilioRequest, judgeBySid, twilioSecrets, twilioSettings } from './twilio.ts';

const maxSpokenCharacters = 500;

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export const voice = defineChannelType({
  type: 'voice',
  name: 'Voice call',
  summary: 'A call that reads the title twice, through the API of Twilio or a compatible service.',
  settings: z.strictObject({ type: z.literal('voice'), ...twilioSettings }),
  secrets: twilioSecrets,
  requests: ({ title }, settings) => {
    // XML does not allow control characters or unpaired surrogates.
    const spokenText = escapeXml(
      truncate(title, maxSpokenCharacters)
        .replaceAll(/\p{Cc}+/gu, ' ')
        .toWellFormed(),
    );
    return [
      createTwilioRequest('Calls', settings, { Twiml: `<Response><Say loop="2">${spokenText}</Say></Response>` }),
    ];
  },
  judge: judgeBySid,
});
