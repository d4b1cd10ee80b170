// The steps of the story in English. *x* is a quotation, **x** is emphasized, {x} is a placeholder. In each act the
// visitor predicts (ask, choices), does something (task), and sees the result (seen).

export const steps = {
  next: {
    title: 'What comes next?',
    text: [
      'A small language model was trained on one book, *Moby-Dick*. It does one thing: it reads a text and says how ' +
        'likely each word is to come next.',
    ],
    acts: [
      {
        ask: 'How likely will its first guess be, after your words?',
        choices: ['Less than 10%', '10% to 50%', 'More than 50%'],
        task: 'Write a few words of your own at the top.',
        seen:
          'After “{after}” its first guess is “{guess}”, **{p}**. That is all it does. *write on* only repeats it: ' +
          'guess, add the guess to the text, guess again.',
      },
    ],
  },
  tokens: {
    title: 'Tokens',
    text: [
      'The model does not read letters. It reads **tokens**: pieces of text, each with a number. A common word is ' +
        'one token, a rare word is several.',
    ],
    acts: [
      {
        ask: 'Into how many tokens is a rare word cut?',
        choices: ['Two', 'Three or four', 'One for each letter'],
        task: 'Find a word of more than one token, here or in the text at the top, and point at it.',
        seen: '*{word}* is **{count}** tokens: {parts}. The model sees only their numbers: {ids}.',
      },
    ],
  },
  back: {
    title: 'Looking back',
    text: [
      'A **head** lets every token look back at those before it. Each row of the picture is a token that looks. ' +
        'The stronger the colour, the more it looks there.',
    ],
    acts: [
      {
        ask: 'How far back does a token find something?',
        choices: ['One token', 'A few tokens', 'Half the text or more'],
        task:
          'Find a token that looks **far back**: mostly at one place, more than five tokens before it. Point at its ' +
          'row. The first token does not count: rows that find nothing often look there.',
        seen:
          '*{token}* looks at *{key}*, **{distance}** tokens back, with a weight of {weight}. Its row adds up to ' +
          '{total}: a token that looks more at one place looks less at the others.',
      },
    ],
  },
  why: {
    title: 'Why there?',
    text: [
      '“{query}” asks with {width} numbers, its **query**. “{key}” answers with {width}, its **key**. Each pair is ' +
        'multiplied. The sum, divided by √{width}, is the **score**; **softmax** turns the scores of a row into weights.',
    ],
    acts: [
      {
        ask: 'Flip the sign of one number. What happens to {weight}?',
        choices: ['It stays the same', 'It falls but stays the largest', 'It falls to almost nothing'],
        task: 'Drag the blue knob to the other side of zero. Arrow keys move it too.',
        seen: '{from} became **{to}**. No single pair decides: the score is the sum of all {width}.',
      },
      {
        ask: 'A temperature of 2 halves every score. What happens to the weights of the row?',
        choices: ['They stay the same', 'They become more equal', 'The largest one grows'],
        task: 'Turn the temperature at the bottom up to 2 or more.',
        seen:
          'At temperature {temperature} the score went from {scoreFrom} to {scoreTo}, and the weight from {from} to ' +
          '**{to}**. Closer scores share the attention more evenly.',
      },
    ],
  },
  fetched: {
    title: 'What is fetched?',
    text: [
      'Each token also has a **value**: numbers that it passes on. The head mixes the values by their weights. The ' +
        'mixture continues through the model and changes the guess.',
    ],
    acts: [
      {
        ask: 'How much does this head add to another guess?',
        choices: ['As much', 'Less', 'Nothing, or it subtracts'],
        task: 'Under *Next token*, choose another guess and see how much this head adds to it.',
        seen: 'This head adds {addsOne} to *{one}* and **{addsOther}** to *{other}*. So it favours *{winner}*.',
      },
    ],
  },
  ahead: {
    title: 'Not ahead',
    text: [
      'No token may look at later tokens: otherwise it would not have to guess. The **mask** hides them, so half of ' +
        'the picture is empty.',
    ],
    acts: [
      {
        ask: 'Without the mask, how likely does it find the right next token, on average?',
        choices: ['As likely as before', 'About twice as likely', 'Many times as likely'],
        task: 'Remove the mask: press *more* at the bottom, and change it from *causal* to *none*.',
        seen:
          'Now it cheats. On average over the text the right token gets **{meanTo}** instead of {meanFrom}. After ' +
          '*{token}*, token {place}, it gave *{next}* {from}. Now it sees the answer, and gives it {to}.',
      },
    ],
  },
  many: {
    title: 'Many heads',
    text: [
      'This model has five layers of four heads. Each small picture is one of them, and each looks at different ' +
        'tokens. Some have one clear role.',
    ],
    acts: [
      {
        ask: 'In how many of the {heads} heads does nearly every token look at the one just before it?',
        choices: ['None', 'One or two', 'Half of them or more'],
        task: 'Find such a head: nearly every token looks at the one **just before** it.',
        seen:
          'Layer {layer}, head {head}: its mean weight on the token before is {score}. **{count}** of {heads} heads ' +
          'in this model have this role.',
      },
      {
        task: 'Find the head in which the last token looks at what **came after the same words** before.',
        seen: 'Layer {layer}, head {head} gives **{score}** to what came next the last time. It is an **induction head**.',
      },
    ],
  },
  matter: {
    title: 'Does it matter?',
    text: [
      'This head looks at what came after the same words before. Does the guess depend on it? A pattern alone does ' +
        'not prove it.',
    ],
    acts: [
      {
        ask: 'Switch this head off. What happens to the probability of *{guess}*?',
        choices: ['It stays the same', 'It falls by about half', 'It falls to almost nothing'],
        task: 'Switch it off: the switch is next to its name.',
        taskOnPhone: 'Switch it off: press *more* at the bottom, and set this head to *off*.',
        seen: 'You switched layer {layer}, head {head} off: *{text}* fell from {from} to **{to}**. The guess needs this head.',
      },
      {
        ask: 'Does the guess need another head as well?',
        choices: ['No, this one is enough', 'Yes, one or two others', 'Yes, most of the others'],
        task:
          'Choose heads of the layer below and switch them off, one at a time, until the guess falls. The number ' +
          'under a head is the change, in percentage points.',
        seen:
          'Layer {layer}, head {head} costs **{points}** as well. So it takes **two heads**: without either, the ' +
          'guess falls.',
      },
      {
        task: 'Now find a head that makes **no difference**.',
        seen: 'Layer {layer}, head {head} costs **{points}**: this guess does not need it. Only switching it off shows this.',
      },
    ],
  },
  cut: {
    short: 'two heads, one trick',
    title: 'Two heads, one trick',
    text: [
      'Layer 3, head 3 costs as much as head 4.2. At each token it writes **which token stood before it**. Head 4.2 ' +
        'reads that when it computes its **keys**.',
    ],
    acts: [
      {
        ask: 'Cut only the line between the two. What happens?',
        choices: ['Nothing changes', 'Head 4.2 finds nothing', 'Only the guess changes'],
        task: 'Cut the red line between the two layers: press its switch.',
        seen:
          '{from} became **{to}**, and *{text}* fell from {pFrom} to **{pTo}**. Both heads are still on; one no longer ' +
          'reads what the other writes.',
      },
    ],
  },
  train: {
    short: 'train one',
    title: 'Where do they come from?',
    text: [
      'Nobody designed these heads. A new model starts with random numbers and looks everywhere at once. It learns ' +
        'from its wrong guesses, and such heads form by themselves.',
    ],
    acts: [
      {
        ask: 'A new model knows nothing. How often is it right after a few hundred steps?',
        choices: ['Hardly ever', 'About half the time', 'Nearly always'],
        task: 'Train a small model now, and watch its heads form. Then come back.',
        act: 'Train one',
        seen: 'After {steps} steps it is right in **{right}** of its guesses.',
        other: 'It has not learned yet: press *Train one*, then the button to play.',
      },
    ],
  },
};
