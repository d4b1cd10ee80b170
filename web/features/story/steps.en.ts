// The steps of the story in English. *x* is a quotation, **x** is emphasized, {x} is a placeholder. In each act the
// visitor predicts (ask, choices), does something (task), and sees the result (seen; `other` in another case).

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
          'After “{after}” its first guess is “{guess}”, **{p}**. That is all it does. *{write}* only repeats it: ' +
          'guess, add the guess to the text, guess again.',
      },
    ],
  },
  tokens: {
    title: 'Tokens',
    text: [
      'The model does not read letters. It reads **tokens**: pieces of text, each with a number. A common word is ' +
        'usually one token, a rare word several.',
    ],
    acts: [
      {
        ask: 'Into how many tokens is *{word}* cut?',
        choices: ['One: it is not cut', 'Two or three', 'Four or more'],
        task: 'Point at *{word}*, here or in the text at the top.',
        seen: '*{word}* is cut into **{count}** tokens: {parts}. The model sees only their numbers: {ids}.',
        other: '*{word}* is **one** token. The model sees only its number: {ids}.',
      },
    ],
  },
  back: {
    title: 'Looking back',
    text: [
      'A **head** lets every token look at the tokens before it and at itself. Read along a row: how much “{query}” ' +
        'looks at each earlier token and at itself. A stronger colour means more. Each row adds up to 1.',
    ],
    acts: [
      {
        ask: 'How far back does a token find something?',
        choices: ['One token', 'Further, but less than half the text', 'Half the text or more'],
        task:
          'Find a row that looks **far back**: more than half of it at one token, more than five tokens before. ' +
          'Point at the row. The first token does not count: rows that find nothing often look there.',
        seen:
          '*{token}* looks at *{key}*, **{distance}** tokens back, with a weight of {weight}. Its row adds up to ' +
          '{total}: a token that looks more at one place looks less at the others.',
      },
    ],
  },
  why: {
    title: 'Why there?',
    text: [
      '{width} numbers say what “{query}” looks for: its **query**. {width} more say what “{key}” offers: its ' +
        '**key**. Each pair is multiplied. The sum, divided by √{width}, is the **score**; **softmax** turns the ' +
        'scores of a row into weights.',
    ],
    acts: [
      {
        ask: 'Change the sign of one number. What happens to the weight of {weight}?',
        choices: ['It stays about the same', 'It falls but stays the largest', 'It falls, and another is larger'],
        task: 'Drag the blue knob to the other side of zero. Arrow keys move it too.',
        seen: 'One of {width} pairs has changed, and {from} became **{to}**. The score is the sum of all {width}.',
      },
      {
        ask: 'A temperature of 2 halves every score. What happens to the weights of the row?',
        choices: ['They stay about the same', 'They become more equal', 'The largest one grows'],
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
      'Each token also has a **value**: numbers that it passes on. The head adds up the values, each times its ' +
        'weight. The sum changes the **logit** of every possible next token: a score, from which softmax computes ' +
        'the probability.',
    ],
    acts: [
      {
        ask: 'How much does this head add to the logit of another guess?',
        choices: ['About as much, or more', 'Less', 'Nothing, or it subtracts'],
        task: 'Under *{next}*, choose another guess and see how much this head adds to it.',
        seen:
          'This head adds {addsOne} points of logit to *{one}* and **{addsOther}** to *{other}*. Of the two, it ' +
          'favours *{winner}*.',
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
        choices: ['About as likely as before, or less', 'Two or three times as likely', 'Many times as likely'],
        task: 'Remove the mask: press *{menu}* at the bottom, and change *{causal}* to *{none}*.',
        seen:
          'Now it cheats. On average over the text the right token gets **{meanTo}** instead of {meanFrom}. After ' +
          '*{token}*, token {place}, it gave *{next}* {from}. Now it sees the answer, and gives it {to}.',
        other:
          'On average over the text the right token now gets **{meanTo}** instead of {meanFrom}. The model sees the ' +
          'answers, but it was not trained to use them.',
      },
    ],
  },
  many: {
    title: 'Many heads',
    text: [
      'This model has {layers} layers of {perLayer} heads. Each small picture is one head, drawn like the large one. ' +
        'Some heads have one clear role.',
    ],
    acts: [
      {
        ask: 'In how many of the {heads} heads does the token just before get more than half of the weight?',
        choices: ['In none', 'In some, but fewer than half', 'In half of them or more'],
        task: 'Find such a head: on average, more than half of each row is on the token **just before**.',
        seen:
          'Layer {layer}, head {head}: its mean weight on the token before is {score}. **{count}** of {heads} heads ' +
          'in this model have this role.',
      },
      {
        task: 'Find a head in which the last token looks at what **came after the same words** before.',
        seen:
          'Layer {layer}, head {head} gives **{score}**, on average, to what came next the last time. It is an ' +
          '**induction head**.',
      },
    ],
  },
  matter: {
    title: 'Does it matter?',
    text: [
      'Layer {layer}, head {head} looks at what came after the same words before. Does the guess depend on it? A ' +
        'pattern alone does not prove it.',
    ],
    acts: [
      {
        ask: 'Switch this head off. What happens to the probability of *{guess}*?',
        choices: ['It stays about the same', 'It falls, but a good part remains', 'It falls to almost nothing'],
        task: 'Switch it off: the switch is next to its name.',
        seen: 'You switched layer {layer}, head {head} off: *{text}* fell from {from} to **{to}**. So it matters here.',
      },
      {
        ask: 'Does the guess need another head as well?',
        choices: ['No, this one is enough', 'Yes, one in the layer below', 'Yes, one elsewhere'],
        task:
          'Choose other heads and switch them off, one at a time, until the guess falls by {fall} points or more. ' +
          'Begin with the layer below. The number under a head is the change, in percentage points.',
        seen: 'Layer {layer}, head {head} costs **{points}** as well: without either of these two heads, the guess falls.',
      },
      {
        task: 'Now find a head that makes **no difference**: at most {same} points.',
        seen:
          'Without layer {layer}, head {head} the change is **{points}**: this guess does not need it. Only ' +
          'switching it off shows this.',
      },
    ],
  },
  cut: {
    short: 'two heads',
    title: 'Two heads, one trick',
    text: [
      'Head {writer} looks at the token just before. At each token it writes **which token stood before it**. Head ' +
        '{reader} reads that when it computes its **keys**.',
    ],
    acts: [
      {
        ask: 'Cut only the line between the two. What happens?',
        choices: ['Nothing, or hardly anything', 'Head {reader} no longer finds the word', 'Only the guess changes'],
        task: 'Cut the red line between the two layers: press its switch.',
        seen:
          'The weight of {from} became **{to}**, and *{text}* went from {pFrom} to **{pTo}**. Both heads are still ' +
          'on; one no longer reads what the other writes.',
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
        choices: ['Less than 25% of the time', '25% to 75%', 'More than 75%'],
        task: 'Train a small model now, and watch its heads form. Then come back: press *{story}* at the top.',
        act: 'Train one',
        seen: 'At step {steps} it is right in **{right}** of its guesses.',
        other: 'It has not learned **yet**: press *Train one*, and let it train for a while.',
      },
    ],
  },
};
