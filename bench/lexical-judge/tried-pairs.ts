/**
 * Minimal pairs on which no rule of the judge was made: other sentences, edits and languages than those of
 * minimal-pairs.ts. The true claim of most says in other words what the source says.
 */
import { at, type Kind, type MinimalPair, PEOPLE, PLACES } from './minimal-pairs.ts';
import { triedNegations } from './tried-negations.ts';

/** What a source says, a true claim, and a false one. */
type Fact = readonly [kind: Kind, source: string, right: string, wrong: string];

/** Facts of one firm and one trial. `n` varies names and numbers. */
function facts(n: number): readonly Fact[] {
  const [city, other] = [at(PLACES, n + 2), at(PLACES, n + 6)];
  const [who, another] = [at(PEOPLE, n + 1), at(PEOPLE, n + 7)];
  const year = 1903 + 6 * n;
  const staff = 340 + 17 * n;
  const rival = 125 + 11 * n;
  const [share, abroad] = [n + 11, n + 52];
  return [
    [
      'number',
      `With ${staff} employees in ${city}, Halden Tools is the largest employer there`,
      `Halden Tools has ${staff} employees in ${city}`,
      `Halden Tools has ${rival} employees in ${city}`,
    ],
    ['number', `A rival has hired ${rival} people`, `A rival hired ${rival} people`, `A rival hired ${staff} people`],
    [
      'number',
      `Sales rose by ${share}% to ${n + 24} million euros`,
      `Sales rose to ${n + 24} million euros`,
      `Sales rose to ${n + 42} million euros`,
    ],
    [
      'number',
      `The plant runs ${n + 9} hours a day, and ${n + 26} workers share each shift`,
      `${n + 26} workers share each shift, and the plant runs ${n + 9} hours a day`,
      `${n + 28} workers share each shift, and the plant runs ${n + 9} hours a day`,
    ],
    [
      'number',
      `Each machine weighs ${n + 3} tonnes`,
      `A machine weighs ${n + 3} tonnes`,
      `A machine weighs ${n + 3}0 tonnes`,
    ],
    [
      'number',
      `The first factory was built in ${year}, four years after the firm began`,
      `The first factory was built in ${year}`,
      `The first factory was built in ${year + 1}`,
    ],
    [
      'number',
      'Its seven branches lie in three countries',
      'It has seven branches, which lie in three countries',
      'It has seven branches, which lie in five countries',
    ],
    [
      'number',
      'Five directors run the firm',
      'The firm is run by five directors',
      'The firm is run by seven directors',
    ],
    [
      'number',
      `About ${abroad}% of the orders came from abroad`,
      `${abroad} percent of orders came from abroad`,
      `${share} percent of orders came from abroad`,
    ],
    [
      'unit',
      `A fence of ${n + 31} yards runs round it`,
      `A fence of ${n + 31} yards is round it`,
      `A fence of ${n + 31} metres runs round it`,
    ],
    [
      'unit',
      `The sack holds ${n + 2} kilograms of flour`,
      `A sack holds ${n + 2} kg of flour`,
      `The sack holds ${n + 2} pounds of flour`,
    ],
    ['unit', `The film runs ${n + 61} minutes`, `The film lasts ${n + 61} minutes`, `The film runs ${n + 61} hours`],
    [
      'unit',
      `It is ${n + 8} kilometres to the port`,
      `The port is ${n + 8} km away`,
      `It is ${n + 8} miles to the port`,
    ],
    ['unit', `The fine was ${n + 90} pounds`, `The fine came to £${n + 90}`, `The fine was ${n + 90} euros`],
    ['unit', `The oven heats to ${n + 150} °C`, `The oven reaches ${n + 150} °C`, `The oven heats to ${n + 150} °F`],
    [
      'unit',
      `The bottle has ${n + 70} ml of water`,
      `A bottle has ${n + 70} ml of water`,
      `The bottle has ${n + 70} litres of water`,
    ],
    [
      'unit',
      `The orchard measures ${n + 5} acres`,
      `The orchard has ${n + 5} acres`,
      `The orchard measures ${n + 5} hectares`,
    ],
    [
      'unit',
      `The battery stores ${n + 12} kWh`,
      `The battery can store ${n + 12} kWh`,
      `The battery stores ${n + 12} MWh`,
    ],
    [
      'name',
      `${who} led the trial in ${other}`,
      `The trial in ${other} was led by ${who}`,
      `Vera Halloran led the trial in ${other}`,
    ],
    ['name', `The firm moved from ${city} to ${other}`, `The firm moved to ${other}`, 'The firm moved to Quendal'],
    [
      'name',
      `Its chair is ${another}, who studied in Delphi`,
      `${another} is its chair`,
      `Its chair is ${another}, who studied in Sparta`,
    ],
    ['name', `The pill was named Loratene after ${who}`, 'The pill was named Loratene', 'The pill was named Corvasil'],
    [
      'negation',
      `The pill hasn't been approved in ${city}`,
      `The pill has not been approved in ${city}`,
      `The pill has been approved in ${city}`,
    ],
    [
      'negation',
      `None of the patients in ${other} reported pain`,
      `No patients in ${other} reported pain`,
      `The patients in ${other} reported pain`,
    ],
    [
      'negation',
      'The study found no link between sleep and weight',
      'No link between sleep and weight was found in the study',
      'The study found a link between sleep and weight',
    ],
    [
      'negation',
      `${another} left the meeting without signing the contract`,
      `${another} left without signing the contract`,
      `${another} left the meeting after signing the contract`,
    ],
    [
      'negation',
      'The vaccine rarely causes fever',
      'Fever is rarely caused by the vaccine',
      'The vaccine causes fever',
    ],
    [
      'negation',
      'Doctors could not explain the result',
      "Doctors couldn't explain the result",
      'Doctors could explain the result',
    ],
    ['negation', 'The second group slept well', 'The second group slept well', 'The second group did not sleep well'],
    ['negation', `${who} attended the hearing`, `${who} attended the hearing`, `${who} never attended the hearing`],
    [
      'negation',
      'Not only the pill but also the diet helped',
      'The pill and the diet helped',
      'The pill and the diet did not help',
    ],
    [
      'negation',
      `The results were not published until ${year + 9}`,
      `The results were published in ${year + 9}`,
      'The results were never published',
    ],
    [
      'negation',
      'The nurse was not tired, but the surgeon was tired',
      'The surgeon was tired',
      'The surgeon was not tired',
    ],
    [
      'direction',
      'Blood pressure fell in both groups',
      'In both groups blood pressure fell',
      'Blood pressure rose in both groups',
    ],
    ['direction', 'The old pill is cheaper', 'The old pill is cheaper', 'The old pill is dearer'],
    ['direction', 'The firm sold its shares', 'The firm sold its shares', 'The firm bought its shares'],
    [
      'direction',
      'The survey came after the trial',
      'The survey came after the trial',
      'The survey came before the trial',
    ],
    [
      'relation',
      `It sold ${n + 71} lathes and ${n + 83} drills`,
      `It sold ${n + 83} drills`,
      `It sold ${n + 83} lathes`,
    ],
    ['relation', `${who} hired ${another}`, `${another} was hired by ${who}`, `${another} hired ${who}`],
    ['relation', `${city} beat ${other} at chess`, `${city} beat ${other} at chess`, `${other} beat ${city} at chess`],
    ['relation', 'Sleep causes growth, not diet', 'Sleep causes growth', 'Diet causes growth'],
  ];
}

function englishPairs(n: number): MinimalPair[] {
  const made = facts(n);
  const source = made.map(([, stated]) => `${stated}.`).join(' ');
  return made.map(([kind, , right, wrong]) => ({
    kind,
    language: 'en',
    source: `According to the yearly report, this holds. ${source}`,
    true: `${right}.`,
    false: `${wrong}.`,
  }));
}

/** All pairs, the same at every call. */
export function triedPairs(): MinimalPair[] {
  return [...Array.from({ length: 26 }, (_, n) => englishPairs(n)).flat(), ...triedNegations()];
}
