/** Checks as YAML: only values that differ from the defaults are exported, and they are read back. */
import test from 'ava';
import { readCheckFiles, writeCheckYaml } from '../../../subjects/synthetics/as-code.ts';
import { CheckFields } from '../../../subjects/synthetics/check.ts';

test('the switch for cookies is exported unless it has its default, and read back', (t) => {
  for (const storeCookies of [true, false]) {
    const settings = { steps: [{ url: 'https://shop.example/' }], storeCookies };
    const check = CheckFields.parse({ name: 'Shop', type: 'http', http: settings });
    const yaml = writeCheckYaml(check, (location) => location);
    t.is(yaml.includes('storeCookies: false'), !storeCookies, yaml);
    t.false(yaml.includes('storeCookies: true'));
    t.deepEqual(readCheckFiles(yaml)[0]?.check, check);
  }
});
