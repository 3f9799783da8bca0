@echo off
rem Starts coordl.jar with the java of JAVA_HOME or of the path, with the same options as the script coordl.
setlocal
set "JAVA=java"
if defined JAVA_HOME set "JAVA=%JAVA_HOME%\bin\java"
rem The plain compiler starts sooner; it is not enough for recordings of 10 MB and more.
set "COMPILER=-XX:TieredStopAtLevel=1"
if "%~1"=="profile" set "COMPILER=-XX:+TieredCompilation"
:look
if "%~1"=="" goto run
for %%F in ("%~1" "%~1\*.jfr") do call :size "%%~zF"
shift /1
goto look
:run
"%JAVA%" -XX:+UseSerialGC %COMPILER% -Xlog:disable -jar "%~dp0..\lib\coordl.jar" %*
exit /b %ERRORLEVEL%
:size
set "SIZE=%~1"
if not defined SIZE exit /b
if not "%SIZE:~7,1%"=="" set "COMPILER=-XX:+TieredCompilation"
exit /b
