import { z } from 'zod';
import { defineChannelType } from '../definition.ts';
import { cut } from '../template.ts';
import { byTwilioId, twilioRequest, twilioSecrets, twilioSettings } from './twilio.ts';

const maxCharacters = 500;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export const voice = defineChannelType({
  type: 'voice',
  name: 'Voice call',
  summary: 'A call in which the title is read twice, by the API of Twilio or of a service that has the same.',
  settings: z.strictObject({ type: z.literal('voice'), ...twilioSettings }),
  secrets: twilioSecrets,
  requests: ({ title }, settings) => {
    // XML knows no control characters, nor halves of characters.
    const spokenText = escaped(
      cut(title, maxCharacters)
        .replaceAll(/\p{Cc}+/gu, ' ')
        .toWellFormed(),
    );
    return [twilioRequest('Calls', settings, { Twiml: `<Response><Say loop="2">${spokenText}</Say></Response>` })];
  },
  judge: byTwilioId,
});
