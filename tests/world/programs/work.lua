-- SPDX-License-Identifier: MIT
-- work.lua - errors through Lua and C calls, which Lua raises by longjmp; coroutines that yield across them; the
-- compiler, the collector and the libraries. Prints what it computes; the same in every run.

local out = {}
local function say(what, ...)
  out[#out + 1] = what .. ": " .. table.concat({...}, " ")
end

-- errors ---------------------------------------------------------------------
local function fall(n)
  if n == 0 then error({code = 42}) end
  return fall(n - 1) + 1
end
local caught, code = 0, 0
for i = 1, 300 do
  local ok, e = pcall(fall, i % 50)
  if not ok then caught, code = caught + 1, code + e.code end
end
say("errors", caught, code)

local function through_c(n)
  -- The error passes gsub, sort and the protected calls of Lua in C.
  local ok, e = pcall(string.gsub, "abc", "%w", function(c)
    table.sort({3, 1, 2}, function(a, b)
      if n % 3 == 0 then error("in sort " .. n, 0) end
      return a < b
    end)
    if n % 3 == 1 then error("in gsub " .. n, 0) end
  end)
  return ok and "none" or e
end
local kinds = {}
for i = 1, 90 do
  local e = through_c(i):match("%a+ ?%a*")
  kinds[e] = (kinds[e] or 0) + 1
end
say("errors through C", kinds["in sort "] or kinds["in sort"], kinds["in gsub "] or kinds["in gsub"], kinds.none)

local handled = 0
for i = 1, 8 do
  xpcall(fall, function(e) handled = handled + (debug.traceback() and 1) return e end, i)
end
say("handlers", handled)
local function again() return (string.gsub("x", "x", again)) end
local ok, e = pcall(again)
say("stack overflow", tostring(ok), e:match("stack overflow"))
local t = setmetatable({}, {__index = function(_, k) if k > 5 then error("index " .. k, 0) end return k end})
say("metamethods", select(2, pcall(function() local s = 0 for i = 1, 10 do s = s + t[i] end return s end)))
do
  local log = {}
  local function scoped(i)
    local a <close> = setmetatable({}, {__close = function(_, err) log[#log + 1] = i .. (err and "!" or ".") end})
    if i % 2 == 0 then error("scope", 0) end
  end
  for i = 1, 6 do pcall(scoped, i) end
  say("closed", table.unpack(log))
end

-- coroutines ------------------------------------------------------------------
local function producer(n)
  return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end)
end
local sum = 0
for i in producer(2000) do sum = sum + i end
say("yields", sum)

local function across(n)
  -- Yields through pcall, a metamethod and an iterator.
  local co = coroutine.create(function()
    local v = setmetatable({}, {__add = function(a, b) return coroutine.yield("add") end})
    local total = 0
    for i = 1, n do
      local ok, r = pcall(function()
        local x = coroutine.yield(i)
        if x % 7 == 0 then error("seven", 0) end
        return (v + 1) + x
      end)
      total = total + (ok and r or 0)
    end
    return total
  end)
  local _, got = coroutine.resume(co)
  while coroutine.status(co) ~= "dead" do
    if got == "add" then _, got = coroutine.resume(co, 10) else _, got = coroutine.resume(co, got) end
  end
  return got
end
say("yields across", across(200))

local live = {}
for i = 1, 100 do
  live[i] = coroutine.create(function(a) while true do a = coroutine.yield(a * i) if a > 12 then error("end", 0) end end end)
end
local rounds, ended = 0, 0
for round = 1, 15 do
  for i = 1, 100 do
    local ok, r = coroutine.resume(live[i], round)
    if ok then rounds = rounds + r elseif r == "end" then ended = ended + 1 end
  end
end
say("many coroutines", rounds, ended)
say("wrapped error", select(2, pcall(coroutine.wrap(function() error("out of a coroutine", 0) end))))

-- compiler, libraries, collector ------------------------------------------------
local bad = 0
for i = 1, 60 do
  local f, e = load("return function(x) " .. (i % 3 == 0 and "x = = 1" or "x = x + " .. i) .. " return x end")
  if f then sum = sum + f()(i) else bad = bad + 1 end
end
say("compiled", sum, bad)
local words = {}
for i = 1, 500 do words[i] = string.format("%05d-%s", i * 7919 % 1000, string.rep("x", i % 5)) end
table.sort(words)
say("sorted", words[1], words[250], words[500])
local text = table.concat(words, ","):gsub("x+", function(s) return #s end)
say("text", #text, text:find("00500", 1, true))
local gone = 0
do
  for i = 1, 400 do
    setmetatable({string.rep("y", i)}, {__gc = function() gone = gone + 1 end})
  end
  collectgarbage()
end
say("collected", gone)
local name = os.tmpname()
local f = assert(io.open(name, "w"))
for i = 1, 200 do f:write(i, "\n") end
f:close()
local lines = 0
for line in io.lines(name) do lines = lines + tonumber(line) end
os.remove(name)
say("lines", lines)
say("utf8", utf8.len("hodoscope ✓"), utf8.char(72, 8364))

print(table.concat(out, "\n"))
os.exit(ended == 100 and 3 or 4, true)
