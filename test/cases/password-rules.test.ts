/** Which passwords are rejected: those that an attacker tries who knows common lists, the address and the product. */
import test from 'ava';
import { requireHardToGuess } from '../../api/identity/password-rules.ts';

const isRefused = async (password: string): Promise<boolean> => {
  try {
    await requireHardToGuess(password, 'ann.miller@corp.example');
    return false;
  } catch {
    return true;
  }
};

const guessed = [
  ...[
    'password1234',
    'P@ssw0rd1234',
    'iloveyou12345',
    'qwertyuiop[]',
    '1qaz2wsx3edc4rfv',
    'letmeinplease',
    'Summer2026!!',
  ],
  ...['administrator', 'abcdefghijklmnop', '987654321098', 'aaaaaaaaaaaaaaaa', 'abcabcabcabcabc', 'trustno1trustno1'],
  ...['ann.miller@corp.example', 'AnnMiller2026', 'corp.example', 'OiqOiqOiqOiq', 'Opentelemetry1', 'oiq-oiq-oiq-oiq'],
  'x'.repeat(1024),
];
const fine = ['correct horse battery staple', 'kX9#mQ2$vL7p', 'seventeen blue lanterns', 'ünterwegs mit drei Käsen'];

test('common passwords, repetitions, the address and the product name are rejected', async (t) => {
  const passed: string[] = [];
  for (const password of guessed) if (!(await isRefused(password))) passed.push(password);
  t.deepEqual(passed, []);
});

test('passphrases and random passwords are accepted', async (t) => {
  const refused: string[] = [];
  for (const password of [...fine, `${fine[0]}${'😀'.repeat(400)}`])
    if (await isRefused(password)) refused.push(password);
  t.deepEqual(refused, []);
});
