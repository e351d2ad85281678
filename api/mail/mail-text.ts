import type { Mail } from '../../schemas/ports/mail.ts';

/** Content of a mail; this module defines its layout. */
export interface MailDraft {
  readonly to: string;
  readonly subject: string;
  readonly paragraphs: readonly string[];
  readonly link?: { readonly text: string; readonly url: string };
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

/**
 * Prepares a user-chosen name for subjects and sentences: removes line breaks and text direction marks, and prevents
 * mail programs from turning it into a link.
 */
export const sanitizeName = (name: string): string =>
  name
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/:\/\//g, ': ')
    .trim();

/** Renders a mail as text and HTML; its content is plain text, never markup. */
export const renderMail = ({ to, subject, paragraphs, link }: MailDraft): Mail => {
  const text = [...paragraphs, ...(link === undefined ? [] : [`${link.text}:\n${link.url}`])].join('\n\n');
  const body = paragraphs.map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`);
  if (link !== undefined)
    body.push(
      `<p><a href="${escapeHtml(link.url)}">${escapeHtml(link.text)}</a></p>`,
      `<p>${escapeHtml(link.url)}</p>`,
    );
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(subject)}</title><body>${body.join('')}</body></html>`;
  return { to, subject: subject.replace(/\p{Cc}+/gu, ' '), text: `${text}\n`, html };
};
