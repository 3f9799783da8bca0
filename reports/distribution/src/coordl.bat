@echo off
rem Starts coordl.jar with the java of JAVA_HOME or of the path.
setlocal
set "JAVA=java"
if defined JAVA_HOME set "JAVA=%JAVA_HOME%\bin\java"
"%JAVA%" -XX:+UseSerialGC -jar "%~dp0..\lib\coordl.jar" %*
exit /b %ERRORLEVEL%
