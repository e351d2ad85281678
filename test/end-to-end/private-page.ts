/** A page with secrets in every place where browsers store what people typed, and a recorder without masks. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Tab } from './chromium.ts';

export const secretOf = (index: number): string => `sEcret${String(index).padStart(2, '0')}q`;

/** Numbered secrets, and where each is in the page. */
export const privatePage = `
<style>.x{color:red}</style>
<form action="/pay?token=${secretOf(1)}">
<input id="typed" type="text"><input id="password" type="password"><input id="shown" type="password">
<input id="code" autocomplete="one-time-code"><textarea id="area"></textarea><textarea>${secretOf(2)}</textarea>
<select id="select"><option>a</option><option value="${secretOf(3)}">${secretOf(4)}</option></select>
<select multiple><option selected value="${secretOf(5)}">b</option></select>
<input type="hidden" value="${secretOf(6)}"><input type="email" value="${secretOf(7)}@mail.example">
<input type="tel" value="${secretOf(8)}"><input type="search" value="${secretOf(9)}"><input type="url" value="https://a.example/?t=${secretOf(10)}">
<input disabled value="${secretOf(11)}"><input readonly value="${secretOf(12)}"><input type="checkbox" value="${secretOf(13)}" checked>
<input type="radio" value="${secretOf(14)}" checked><input id="attribute"><input id="property"><input list="list"><datalist id="list"><option value="${secretOf(15)}"></datalist>
</form>
<div id="editable" contenteditable>${secretOf(16)}</div><p contenteditable="plaintext-only">${secretOf(17)}</p>
<div role="textbox" contenteditable="true"><b>${secretOf(18)}</b></div>
<iframe id="frame" srcdoc="<input id='inner' value='${secretOf(19)}'><div contenteditable>${secretOf(20)}</div>"></iframe>
<div id="host"></div><dialog open><input value="${secretOf(21)}"></dialog><template><input value="${secretOf(22)}"></template>
<a id="link" href="/orders?key=${secretOf(23)}#${secretOf(24)}">orders</a><img src="/pixel?mail=${secretOf(25)}@mail.example">
<p class="oiq-mask">${secretOf(26)}</p><p class="oiq-block">${secretOf(27)}</p>
<button id="throw" onclick="throw new Error('no account ${secretOf(28)}@mail.example at https://a.example/x?t=${secretOf(29)}')">Throw</button>
<svg><foreignObject><input xmlns="http://www.w3.org/1999/xhtml" value="${secretOf(30)}"></foreignObject></svg>
`;
const secretCount = 44;

/** Actions of the visitor and of the scripts of the page. */
export const leakSecrets = async ({ page }: Tab): Promise<void> => {
  await page.locator('#typed').pressSequentially(secretOf(31));
  await page.locator('#password').fill(secretOf(32));
  await page.locator('#shown').fill(secretOf(33));
  await page.evaluate(`document.querySelector('#shown').type = 'text'`);
  await page.locator('#code').pressSequentially(secretOf(34));
  await page.locator('#area').pressSequentially(secretOf(35));
  await page.locator('#editable').pressSequentially(secretOf(36));
  await page.frameLocator('#frame').locator('#inner').fill(secretOf(37));
  await page.locator('#select').selectOption(secretOf(3));
  await page.evaluate(`{
    document.querySelector('#attribute').setAttribute('value', '${secretOf(38)}');
    document.querySelector('#property').value = '${secretOf(39)}';
    const root = document.querySelector('#host').attachShadow({ mode: 'open' });
    root.innerHTML = '<input value="${secretOf(40)}"><div><textarea>${secretOf(41)}</textarea></div>';
    const added = document.createElement('div');
    added.innerHTML = '<input value="${secretOf(42)}">';
    document.body.append(added);
    fetch('/api?session=${secretOf(43)}').catch(() => {});
    history.pushState({}, '', '/cart?coupon=${secretOf(44)}#x');
  }`);
  await page.locator('#throw').click();
};

/** The numbers of the secrets that a text contains. */
export const listSecrets = (text: string): number[] =>
  Array.from({ length: secretCount }, (_, index) => index + 1).filter((index) => text.includes(secretOf(index)));

/** Bundles a recorder that sends everything to the receiver, like rrweb without any mask. */
export const bundleUnmaskedRecorder = async (url: string): Promise<string> => {
  const contents = `import { record } from '@rrweb/record';
    let first = 0; let events = [];
    record({ emit: (event) => events.push(event), maskAllInputs: false, maskInputOptions: { password: false }, recordCanvas: true, inlineImages: true, collectFonts: true });
    window.sendRecording = async () => {
      const sent = events; events = [];
      const body = JSON.stringify({ session: 'unmasked', tab: 't', first, events: sent });
      first += sent.length;
      return [sent.length, (await fetch('${url}', { method: 'POST', body })).status, body.length];
    };`;
  const resolveDir = fileURLToPath(new URL('../..', import.meta.url));
  const { outputFiles } = await build({ stdin: { contents, resolveDir }, bundle: true, write: false, format: 'iife' });
  return outputFiles[0]?.text ?? '';
};
