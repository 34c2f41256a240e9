/**
 * `npm run bench:hacks`: what an answer earns by hacking instead of answering, as a share of the honest answer's reward,
 * for each recipe, and which findings report it. Deterministic: the lexical judge compares words, no model is asked.
 */
import { HACK_CLASSES } from './hacks/hack-classes.ts';
import { hackMatrix, SETTINGS } from './hacks/matrix.ts';

const { cells, alarms } = await hackMatrix();
console.log(`| the policy | ${SETTINGS.map(({ name }) => name).join(' | ')} | findings |`);
console.log(`|---|${SETTINGS.map(() => '---|').join('')}---|`);
for (const { name, does } of HACK_CLASSES) {
  const own = cells.filter(({ hack }) => hack === name);
  const paid = SETTINGS.map(({ name: setting }) => {
    const cell = own.find((one) => one.setting === setting);
    return cell === undefined ? '' : `${Math.round(100 * cell.paid)} %`;
  });
  const found = [...new Set(own.flatMap(({ findings }) => findings))];
  console.log(`| ${does} | ${paid.join(' | ')} | ${found.map((reason) => `\`${reason}\``).join(', ') || 'none'} |`);
}
const full = SETTINGS.map(({ name }) => {
  const count = cells.filter(({ setting, paid }) => setting === name && paid >= 0.999).length;
  return `${name} ${count}`;
});
console.log(`\nclasses that pay as much as the honest answer, of ${HACK_CLASSES.length}: ${full.join(', ')}`);
console.log(`findings on honest answers: ${alarms.length === 0 ? 'none' : JSON.stringify(alarms)}`);
