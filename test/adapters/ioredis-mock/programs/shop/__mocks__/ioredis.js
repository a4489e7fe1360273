module.exports = require('ioredis-mock');
