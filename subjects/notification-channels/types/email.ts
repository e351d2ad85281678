import { z } from 'zod';
import { defineChannelType } from '../definition.ts';
import type { ChannelMessage } from '../message.ts';

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const createHtml = ({ title, text }: ChannelMessage): string =>
  `<!doctype html><html><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head><body><h2>${escapeHtml(title)}</h2><pre style="white-space:pre-wrap;font-family:inherit">${escapeHtml(text)}</pre></body></html>`;

export const email = defineChannelType({
  type: 'email',
  name: 'E-mail',
  summary: 'An email to each address, through the mail server of the installation.',
  settings: z.strictObject({
    type: z.literal('email'),
    to: z.array(z.email().max(254)).min(1).max(50),
  }),
  secrets: {},
  mails: (message, { to }) =>
    [...new Set(to)].map((address) => ({
      id: message.id,
      to: address,
      subject: message.title,
      text: message.text,
      html: createHtml(message),
    })),
});
