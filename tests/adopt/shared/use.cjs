const { load } = require('headlight');
const { readNpy, writeNpy } = require('headlight/formats');
const { computed } = require('./computed.js');

computed({ load, readNpy, writeNpy }).then((said) => console.log(JSON.stringify(said)));
